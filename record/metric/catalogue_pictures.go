package metric

var pictureDefinitions = []Definition{
	{Name: "images", Unit: "pictures", Title: "pictures that were asked for at once (as many came, or the request failed)", Group: GroupPictures,
		Formula: "the parameter n, 1 without it; through a proxy the finished pictures that came",
		Null:    "none was made", Source: "the request, the response", Aliases: []string{"images out", "pictures"}},
	{Name: "image_size", Title: "width and height of each picture in pixels, as 1024x768", Group: GroupPictures,
		Formula: "by the header of the file that came, or was sent (PNG, JPEG, WebP, GIF)", Null: "there is no picture, or only its address, its form is not read, or the pictures of the request differ",
		Source: "the bytes of the pictures", Aliases: []string{"picture size"}},
	{Name: "input_images", Unit: "pictures", Title: "pictures that were sent to be looked at", Group: GroupPictures,
		Formula: "those of all messages of the request", Null: "none was sent, or the request was not ours (a proxy's)", Source: "the request", Aliases: []string{"images in", "pictures in"}},
	{Name: "input_videos", Unit: "videos", Title: "videos that were sent to be looked at", Group: GroupPictures,
		Formula: "those of all messages of the request", Null: "none was sent, or the request was not ours (a proxy's)", Source: "the request", Aliases: []string{"video in"}},
	{Name: "input_media_bytes", Unit: "bytes", Title: "bytes of the pictures and videos that were sent to be looked at", Group: GroupPictures,
		Formula: "Σ bytes of the files; their base64 on the way is a third more", Null: "as input_videos, where no picture was sent either", Source: "the request"},
	{Name: "media_tokens", Unit: "tokens", Title: "prompt tokens of pictures and videos, as the server counted them", Group: GroupPictures,
		Formula: "usage: image_tokens and video_tokens of the prompt's details (OpenAI's form), IMAGE and VIDEO of promptTokensDetails (Gemini); a part of input_tokens",
		Null:    "the server does not say", Source: "usage", Aliases: []string{"image tokens", "video tokens", "image_tokens"}},
}
