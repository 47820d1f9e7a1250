package metric

var pictureDefinitions = []Definition{
	{Name: "images", Unit: "pictures", Title: "pictures that were asked for at once; as many came, or the request failed", Group: GroupPictures,
		Formula: "the parameter n, 1 without it; through a proxy the finished pictures that came", Null: "the API makes no pictures",
		Source: "the request, the response", Aliases: []string{"images out", "pictures"}},
	{Name: "image_size", Title: "width and height of each picture in pixels, as 1024x768", Group: GroupPictures,
		Formula: "by the header of the file that came (PNG, JPEG, WebP, GIF)", Null: "no picture came, only its address did, its form is not read, or the pictures of the reply differ",
		Source: "the bytes that came", Aliases: []string{"picture size"}},
}
