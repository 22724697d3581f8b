"""Tasks with python-gitlab."""

import base64
import os
import sys

import gitlab

url, token, admin_token = (os.environ[name] for name in ("URL", "TOKEN", "ADMIN_TOKEN"))
api = gitlab.Gitlab(url, private_token=token)
administrator = gitlab.Gitlab(url, private_token=admin_token)
project = api.projects.get(int(os.environ["PROJECT"]))


def projects():
    api.auth()
    assert api.user.username == os.environ["USERNAME"]
    made = api.projects.create({"name": f"made-{project.id}"})
    made.description = "Edited"
    made.save()
    assert api.projects.get(f"{api.user.username}/made-{project.id}").description == "Edited"
    assert made.id in [each.id for each in api.projects.list(owned=True, iterator=True)]
    made.delete()


def files():
    given = {"file_path": "a/b.txt", "branch": "main", "content": "one\n", "commit_message": "Add"}
    file = project.files.create(given)
    file = project.files.get("a/b.txt", ref="main")
    assert file.decode() == b"one\n"
    file.content = "two\n"
    file.save(branch="main", commit_message="Edit")
    assert project.files.raw("a/b.txt", ref="main") == b"two\n"
    assert "b.txt" in [each["name"] for each in project.repository_tree("a", recursive=True, get_all=True)]
    assert project.repository_archive(format="tar.gz")[:2] == b"\x1f\x8b"
    file.delete(branch="main", commit_message="Remove")


def commits():
    encoded = base64.b64encode(b"\x00\x01").decode()
    action = {"action": "create", "file_path": "c.bin", "content": encoded, "encoding": "base64"}
    commit = project.commits.create({"branch": "main", "commit_message": "Add", "actions": [action]})
    assert commit.diff()[0]["new_path"] == "c.bin"
    commit.comments.create({"note": "Well done"})
    assert commit.comments.list()[0].note == "Well done"
    project.branches.create({"branch": "other", "ref": commit.parent_ids[0]})
    commit.cherry_pick(branch="other")
    assert len(project.commits.list(ref_name="other", get_all=True)) == 2
    assert len(project.repository_compare("other", "main")["commits"]) == 1


def discussions():
    commit = project.commits.get("main")
    discussion = commit.discussions.create({"body": "Well done"})
    note = discussion.notes.create({"body": "Thanks"})
    note.body = "Thank you"
    note.save()
    notes = commit.discussions.get(discussion.id).attributes["notes"]
    assert [each["body"] for each in notes] == ["Well done", "Thank you"]
    note.delete()
    assert len(commit.discussions.get(discussion.id).attributes["notes"]) == 1


def changelogs():
    action = {"action": "create", "file_path": "a.txt", "content": "A"}
    message = "Add a file\n\nChangelog: added"
    project.commits.create({"branch": "main", "commit_message": message, "actions": [action]})
    path = f"/projects/{project.id}/repository/changelog"
    notes = api.http_get(path, query_data={"version": "1.0.0"})["notes"]
    assert "### added (1 change)\n\n- [Add a file]" in notes
    api.http_post(path, post_data={"version": "1.0.0", "branch": "main"})
    assert notes in project.files.raw("CHANGELOG.md", ref="main").decode()


def submodules():
    sha = project.commits.get("main").id
    project.update_submodule("lib", "main", sha, commit_message="Move")
    assert [each["id"] for each in project.repository_tree(get_all=True) if each["path"] == "lib"] == [sha]


def statuses():
    commit = project.commits.get("main")
    for state in ("pending", "running", "success", "success"):
        commit.statuses.create({"state": state, "name": "build"})
    assert commit.statuses.list(get_all=True)[0].status == "success"
    pipeline = project.pipelines.list(get_all=True)[0]
    assert pipeline.status == "success"
    assert pipeline.jobs.list(get_all=True)[0].name == "build"


def references():
    branch = project.branches.create({"branch": "topic", "ref": "main"})
    tag = project.tags.create({"tag_name": "v1", "ref": "main", "message": "One"})
    assert project.tags.get("v1").message == "One"
    protected = project.protectedbranches.create({"name": "release/*", "push_access_level": 40})
    assert "release/*" in [each.name for each in project.protectedbranches.list(get_all=True)]
    protected.delete()
    project.protectedtags.create({"name": "v*", "create_access_level": 40})
    branch.delete()
    tag.delete()


def releases():
    release = project.releases.create({"tag_name": "v1", "ref": "main", "description": "First"})
    release.links.create({"name": "App", "url": "https://example.com/app.zip"})
    with open("app.bin", "wb") as file:
        file.write(b"bytes")
    project.generic_packages.upload("app", "1.0.0", "app.bin", "app.bin")
    assert project.generic_packages.download("app", "1.0.0", "app.bin") == b"bytes"
    uploaded = project.upload("app.bin", filepath="app.bin")
    assert uploaded["url"].endswith("/app.bin")
    assert len(project.releases.get("v1").assets["links"]) == 1


def administration():
    name = f"python{project.id}"
    person = {"email": f"{name}@example.com", "username": name, "name": name, "password": "long enough 8"}
    user = administrator.users.create(person)
    member = project.members.create({"user_id": user.id, "access_level": gitlab.const.AccessLevel.DEVELOPER})
    member.access_level = gitlab.const.AccessLevel.MAINTAINER
    member.save()
    assert project.members_all.get(user.id).access_level == 40
    made = project.access_tokens.create({"name": "ci", "scopes": ["api"], "expires_at": "2027-01-31"})
    assert made.token
    made.delete()
    own = user.personal_access_tokens.create({"name": "ci", "scopes": ["api"]})
    assert gitlab.Gitlab(url, private_token=own.token).personal_access_tokens.list(get_all=True)[0].name == "ci"
    user.block()
    user.unblock()


def hooks():
    hook = project.hooks.create({"url": "http://127.0.0.1:1/", "push_events": True})
    hook.tag_push_events = True
    hook.save()
    assert project.hooks.get(hook.id).tag_push_events
    hook.delete()


def deployments():
    sha = project.commits.get("main").id
    environment = project.environments.create({"name": "production", "external_url": "https://example.com"})
    given = {"environment": "production", "sha": sha, "ref": "main", "tag": False, "status": "running"}
    deployment = project.deployments.create(given)
    deployment.status = "success"
    deployment.save()
    assert project.environments.get(environment.id).last_deployment["sha"] == sha
    environment.stop()
    environment.delete()


def absent():
    for found in (project.mergerequests, project.issues, project.labels, project.milestones, api.groups):
        assert found.list(get_all=True) == []


globals()[sys.argv[1]]()
