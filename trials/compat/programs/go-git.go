// Tasks with go-git.
package main

import (
	"fmt"
	"os"
	"time"

	"github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/config"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/plumbing/transport/http"
)

func must(err error) {
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}

func main() {
	auth := &http.BasicAuth{Username: os.Getenv("USERNAME"), Password: os.Getenv("TOKEN")}
	address := os.Getenv("URL") + "/" + os.Getenv("PROJECT_PATH") + ".git"
	repository, err := git.PlainClone("clone", false, &git.CloneOptions{URL: address, Auth: auth})
	must(err)
	must(os.WriteFile("clone/a.txt", []byte("a\n"), 0o644))
	tree, err := repository.Worktree()
	must(err)
	_, err = tree.Add("a.txt")
	must(err)
	_, err = tree.Commit("Add a file", &git.CommitOptions{Author: &object.Signature{Name: "Lab", Email: "lab@example.com", When: time.Now()}})
	must(err)
	must(repository.Push(&git.PushOptions{Auth: auth}))
	topic := []config.RefSpec{"refs/heads/main:refs/heads/topic"}
	must(repository.Push(&git.PushOptions{Auth: auth, RefSpecs: topic}))
	must(repository.Push(&git.PushOptions{Auth: auth, RefSpecs: []config.RefSpec{":refs/heads/topic"}}))
	if err := repository.Fetch(&git.FetchOptions{Auth: auth}); err != git.NoErrAlreadyUpToDate {
		must(err)
	}
}
