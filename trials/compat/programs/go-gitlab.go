// Tasks with go-gitlab.
package main

import (
	"fmt"
	"os"
	"strconv"

	"github.com/xanzy/go-gitlab"
)

var api = client(os.Getenv("TOKEN"))
var project, _ = strconv.Atoi(os.Getenv("PROJECT"))

func client(token string) *gitlab.Client {
	made, err := gitlab.NewClient(token, gitlab.WithBaseURL(os.Getenv("URL")))
	must(err)
	return made
}

func must(err error) {
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}

func check(holds bool, what string) {
	if !holds {
		must(fmt.Errorf("not so: %s", what))
	}
}

func projects() {
	made, _, err := api.Projects.CreateProject(&gitlab.CreateProjectOptions{Name: gitlab.String(fmt.Sprintf("go-%d", project))})
	must(err)
	_, _, err = api.Projects.EditProject(made.ID, &gitlab.EditProjectOptions{Description: gitlab.String("Edited")})
	must(err)
	found, _, err := api.Projects.GetProject(made.PathWithNamespace, nil)
	must(err)
	check(found.Description == "Edited", "the description is the new one")
	user, _, err := api.Users.CurrentUser()
	must(err)
	owned, _, err := api.Projects.ListUserProjects(user.ID, nil)
	must(err)
	check(len(owned) > 1, "the user has projects")
	_, err = api.Projects.DeleteProject(made.ID)
	must(err)
}

func commits() {
	action := &gitlab.CommitActionOptions{Action: gitlab.FileAction(gitlab.FileCreate), FilePath: gitlab.String("c.txt"), Content: gitlab.String("c")}
	made, _, err := api.Commits.CreateCommit(project, &gitlab.CreateCommitOptions{Branch: gitlab.String("main"), CommitMessage: gitlab.String("Add"), Actions: []*gitlab.CommitActionOptions{action}})
	must(err)
	changes, _, err := api.Commits.GetCommitDiff(project, made.ID, nil)
	must(err)
	check(changes[0].NewPath == "c.txt", "the diff shows the file")
	_, _, err = api.Commits.PostCommitComment(project, made.ID, &gitlab.PostCommitCommentOptions{Note: gitlab.String("Well done")})
	must(err)
	for _, state := range []gitlab.BuildStateValue{gitlab.Running, gitlab.Success} {
		_, _, err = api.Commits.SetCommitStatus(project, made.ID, &gitlab.SetCommitStatusOptions{State: state, Name: gitlab.String("build")})
		must(err)
	}
	statuses, _, err := api.Commits.GetCommitStatuses(project, made.ID, nil)
	must(err)
	check(statuses[0].Status == "success", "the status is success")
	pipelines, _, err := api.Pipelines.ListProjectPipelines(project, nil)
	must(err)
	check(pipelines[0].Status == "success", "the pipeline is, too")
}

func files() {
	given := &gitlab.CreateFileOptions{Branch: gitlab.String("main"), Content: gitlab.String("one\n"), CommitMessage: gitlab.String("Add")}
	_, _, err := api.RepositoryFiles.CreateFile(project, "a/b.txt", given)
	must(err)
	raw, _, err := api.RepositoryFiles.GetRawFile(project, "a/b.txt", &gitlab.GetRawFileOptions{Ref: gitlab.String("main")})
	must(err)
	check(string(raw) == "one\n", "the file is as written")
	tree, _, err := api.Repositories.ListTree(project, &gitlab.ListTreeOptions{Recursive: gitlab.Bool(true)})
	must(err)
	check(len(tree) == 3, "the tree has both files")
	_, _, err = api.Repositories.Archive(project, nil)
	must(err)
}

func submodules() {
	head, _, err := api.Commits.GetCommit(project, "main")
	must(err)
	made, _, err := api.RepositorySubmodules.UpdateSubmodule(project, "lib", &gitlab.UpdateSubmoduleOptions{Branch: gitlab.String("main"), CommitSHA: &head.ID})
	must(err)
	check(made.ParentIDs[0] == head.ID, "the commit is on the branch")
}

func references() {
	_, _, err := api.Branches.CreateBranch(project, &gitlab.CreateBranchOptions{Branch: gitlab.String("topic"), Ref: gitlab.String("main")})
	must(err)
	_, _, err = api.ProtectedBranches.ProtectRepositoryBranches(project, &gitlab.ProtectRepositoryBranchesOptions{Name: gitlab.String("release/*")})
	must(err)
	_, _, err = api.Tags.CreateTag(project, &gitlab.CreateTagOptions{TagName: gitlab.String("v1"), Ref: gitlab.String("main")})
	must(err)
	_, _, err = api.Releases.CreateRelease(project, &gitlab.CreateReleaseOptions{TagName: gitlab.String("v1"), Name: gitlab.String("One")})
	must(err)
	_, _, err = api.ReleaseLinks.CreateReleaseLink(project, "v1", &gitlab.CreateReleaseLinkOptions{Name: gitlab.String("App"), URL: gitlab.String("https://example.com/app.zip")})
	must(err)
	release, _, err := api.Releases.GetRelease(project, "v1")
	must(err)
	check(len(release.Assets.Links) == 1, "the release has its link")
}

func administration() {
	name := fmt.Sprintf("go%d", project)
	user, _, err := client(os.Getenv("ADMIN_TOKEN")).Users.CreateUser(&gitlab.CreateUserOptions{Username: &name, Name: &name, Email: gitlab.String(name + "@example.com"), Password: gitlab.String("long enough 8")})
	must(err)
	_, _, err = api.ProjectMembers.AddProjectMember(project, &gitlab.AddProjectMemberOptions{UserID: user.ID, AccessLevel: gitlab.AccessLevel(gitlab.DeveloperPermissions)})
	must(err)
	_, _, err = api.Projects.AddProjectHook(project, &gitlab.AddProjectHookOptions{URL: gitlab.String("http://127.0.0.1:1/"), PushEvents: gitlab.Bool(true)})
	must(err)
	_, _, err = api.ProjectAccessTokens.CreateProjectAccessToken(project, &gitlab.CreateProjectAccessTokenOptions{Name: gitlab.String("ci"), Scopes: &[]string{"api"}})
	must(err)
	_, _, err = api.Environments.CreateEnvironment(project, &gitlab.CreateEnvironmentOptions{Name: gitlab.String("production")})
	must(err)
}

func main() {
	tasks := map[string]func(){"projects": projects, "commits": commits, "files": files, "submodules": submodules, "references": references, "administration": administration}
	tasks[os.Args[1]]()
}
