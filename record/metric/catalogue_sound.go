package metric

var soundDefinitions = []Definition{
	{Name: "audio_s", Unit: "s", Title: "how long the sound plays that was made, or sent", Group: GroupSound,
		Formula: "WAV and bare PCM: bytes of sound / bytes a second; MP3: samples of its frames; Ogg Opus: its count of samples less the pre-skip",
		Null:    "no sound, or a format that is not read (FLAC, AAC, WebM)", Source: "the bytes that came, or were sent; where neither tells, the seconds of usage", Aliases: []string{"audio seconds", "audio length", "audio duration"}},
	{Name: "audio_bytes_per_s", Unit: "bytes/s", Title: "bytes that play for a second", Group: GroupSound,
		Formula: "by the header of WAV, the type of bare PCM (24,000 samples of 16 bits where nothing is said), the bit rate of MP3's frames",
		Null:    "the rate varies (Opus, MP3 of variable rate), or the format is not read", Source: "the bytes that came"},
	{Name: "rtf", Title: "real-time factor", Better: Lower, Group: GroupSound,
		Formula: "E2E / audio_s: below 1 sound is made faster than it plays", Null: "audio_s or e2e_ms is null, or the request failed",
		Elsewhere: "some tools print the inverse (RTFx), or count from the send", Source: "arrivals, sound", Aliases: []string{"real-time factor of a request"}},
	{Name: "starved_ms", Unit: "ms", Title: "how long a player waits that begins with the first sound", Better: Lower, Group: GroupSound,
		Formula: "Σ waits: whenever all that has come is played, until more comes. The shortest delay with which a player never waits; one that begins d later waits max(starved_ms − d, 0)",
		Null:    "the sound's rate varies or is not known, or not every arrival was kept", Source: "arrivals, audio_bytes_per_s", Aliases: []string{"starvation", "playback starvation", "playout delay"}},
	{Name: "starvations", Unit: "waits", Title: "how often that player waits", Better: Lower, Group: GroupSound,
		Formula: "number of those waits", Null: "as starved_ms", Source: "arrivals, audio_bytes_per_s", Aliases: []string{"underruns"}},
}
