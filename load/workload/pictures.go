package workload

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tokenmeter/base/limitio"
	"tokenmeter/wire/api"
)

// pictureTypes are the forms of pictures and videos that models take, by the file's name.
var pictureTypes = map[string]string{
	".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".gif": "image/gif", ".webp": "image/webp",
	".mp4": "video/mp4", ".mov": "video/mov", ".webm": "video/webm", ".avi": "video/avi", ".mkv": "video/mkv", ".mpeg": "video/mpeg", ".mpg": "video/mpg",
}

// maxPicture bounds one picture or video of the user, in bytes, and all that is made for
// one request.
const maxPicture = 64 << 20

// ownPictures lists the pictures, or the videos, of a folder, or those that a pattern names, in
// the order of their names, so that the same seed takes the same ones.
func ownPictures(path string, videos bool) ([]string, error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		path = filepath.Join(path, "*")
	}
	matches, err := filepath.Glob(path)
	if err != nil {
		return nil, err
	}
	var files []string
	for _, m := range matches {
		if kind := pictureTypes[strings.ToLower(filepath.Ext(m))]; kind != "" && strings.HasPrefix(kind, "video/") == videos {
			files = append(files, m)
		}
	}
	if len(files) == 0 && videos {
		return nil, errors.New("there is no video (mp4, mov, webm, avi, mkv, mpg)")
	}
	if len(files) == 0 {
		return nil, errors.New("there is no picture (png, jpg, gif, webp)")
	}
	slices.Sort(files)
	return files, nil
}

func ownPicture(path string) (api.Image, error) {
	data, err := limitio.File(path, maxPicture)
	if err != nil {
		return api.Image{}, bare(path, err)
	}
	if len(data) == 0 {
		return api.Image{}, fmt.Errorf("%s: the picture is empty", path)
	}
	return api.Image{MIME: pictureTypes[strings.ToLower(filepath.Ext(path))], Data: data}, nil
}
