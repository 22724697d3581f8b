"""Runs steps with python-gitlab and prints what each returned, or which error it raised, as JSON."""

import json
import sys
import warnings

import gitlab

# python-gitlab warns about lists of which only one page is read; the tests do that on purpose.
warnings.simplefilter("ignore")
given = json.load(sys.stdin)
commits = given["commits"]
steps = {}


def client(who):
    return gitlab.Gitlab(given["url"], private_token=given["tokens"].get(who, who), keep_base_url=True)


def step(name):
    def run(work):
        try:
            steps[name] = work()
        except gitlab.GitlabError as error:
            steps[name] = {
                "error": type(error).__name__,
                "code": error.response_code,
                "message": error.error_message,
            }

    return run


def shown(item, *names):
    return {name: item.attributes[name] for name in names}


admin, owner, developer = client("admin"), client("owner"), client("developer")
project = developer.projects.get(given["project"])
owned = owner.projects.get(given["project"])


@step("auth")
def _():
    developer.auth()
    return shown(developer.user, "username", "name")


@step("auth with a bad token")
def _():
    client("glpat-unknown").auth()


@step("version")
def _():
    return list(developer.version())


@step("projects")
def _():
    made = owner.projects.create({"name": "From Python", "path": "from-python", "initialize_with_readme": True})
    made.description = "changed"
    made.save()
    found = owner.projects.get("olga/from-python")
    listed = [each.path for each in owner.projects.list(search="python", iterator=True)]
    made.delete()
    return {**shown(found, "path_with_namespace", "description", "default_branch"), "listed": listed}


@step("a project that nobody has")
def _():
    developer.projects.get("olga/nothing")


@step("commits by page")
def _():
    page = project.commits.list(ref_name="main", per_page=2, page=2, iterator=True)
    return {
        "ids": [each.id for each in page],
        **{name: getattr(page, name) for name in ("per_page", "total", "total_pages", "prev_page", "next_page")},
    }


@step("all commits, one a page")
def _():
    return [each.id for each in project.commits.list(ref_name="main", per_page=1, iterator=True)]


@step("commits of a path and a time")
def _():
    # python-gitlab would use a plain argument `path` as the address of the list.
    asked = {"ref_name": "main", "path": "bin.dat", "since": "2026-01-01T12:00:00Z", "with_stats": True}
    found = project.commits.list(query_parameters=asked)
    return [shown(each, "id", "stats") for each in found]


@step("a commit by branch")
def _():
    commit = project.commits.get("feature/x.y")
    return {**shown(commit, "id", "stats", "status"), "diff": [each["new_path"] for each in commit.diff()]}


@step("a commit that nobody made")
def _():
    project.commits.get("f" * 40)


@step("a new commit")
def _():
    made = project.commits.create(
        {
            "branch": "python",
            "start_branch": "main",
            "commit_message": "From Python\n\nA body",
            "actions": [
                {"action": "create", "file_path": "a/ü.txt", "content": "one\n"},
                {"action": "create", "file_path": "bytes", "content": "AP+A", "encoding": "base64"},
                {"action": "update", "file_path": "bin.dat", "content": "text now\n"},
                {"action": "move", "file_path": "moved.txt", "previous_path": "src/b c.txt"},
            ],
        }
    )
    diff = [each["new_path"] for each in made.diff(per_page=100, get_all=True)]
    return {**shown(made, "title", "message", "author_name", "parent_ids"), "diff": sorted(diff)}


@step("a commit that does not fit")
def _():
    action = {"action": "create", "file_path": "bin.dat", "content": "x"}
    project.commits.create({"branch": "main", "commit_message": "m", "actions": [action]})


@step("a commit without its branch")
def _():
    project.manager.gitlab.http_post(project.commits.path, post_data={"commit_message": "m", "actions": []})


@step("cherry-pick")
def _():
    project.commits.get("feature/x.y").cherry_pick(branch="python")
    return project.commits.get("python").attributes["message"]


@step("cherry-pick again")
def _():
    project.commits.get("feature/x.y").cherry_pick(branch="python")


@step("statuses")
def _():
    commit = project.commits.get(commits["third"])
    posted = []
    for state in ("pending", "running", "success"):
        status = {"state": state, "name": "py/build", "ref": "main", "coverage": 91.5, "target_url": "https://ci.test/1"}
        posted.append(commit.statuses.create(status).id)
    listed = [shown(each, "name", "status", "coverage") for each in commit.statuses.list()]
    again = project.commits.get(commits["third"])
    return {"records": len(set(posted)), "listed": listed, "of commit": again.attributes["status"]}


@step("a status of an unknown state")
def _():
    project.commits.get(commits["third"]).statuses.create({"state": "done"})


@step("comments")
def _():
    commit = project.commits.get(commits["side"])
    for number in range(3):
        commit.comments.create({"note": f"Number {number}"})
    commit.comments.create({"note": "On a line", "path": "side.txt", "line": 1, "line_type": "new"})
    return [shown(each, "note", "path", "line") for each in commit.comments.list(iterator=True, per_page=2)]


@step("protected branches")
def _():
    made = owned.protectedbranches.create(
        {"name": "release/*", "push_access_level": gitlab.const.AccessLevel.MAINTAINER}
    )
    found = owned.protectedbranches.get("release/*")
    listed = [each.name for each in owned.protectedbranches.list()]
    levels = [level["access_level"] for level in found.attributes["push_access_levels"]]
    return {"name": made.name, "levels": levels, "listed": listed}


@step("a commit to a protected branch")
def _():
    action = {"action": "create", "file_path": "x", "content": "x"}
    given_commit = {"branch": "release/1", "start_branch": "main", "commit_message": "m", "actions": [action]}
    project.commits.create(given_commit)


@step("protected branches, taken back")
def _():
    owned.protectedbranches.delete("release/*")
    return [each.name for each in owned.protectedbranches.list()]


@step("members")
def _():
    user = admin.users.list(username="stan", get_all=True)[0]
    member = owned.members.create({"user_id": user.id, "access_level": gitlab.const.AccessLevel.REPORTER})
    member.access_level = gitlab.const.AccessLevel.DEVELOPER
    member.save()
    everybody = {each.username: each.access_level for each in owned.members_all.list(iterator=True, per_page=2)}
    one = shown(owned.members_all.get(user.id), "username", "access_level")
    member.delete()
    return {"everybody": everybody, "one": one, "left": len(owned.members.list(get_all=True))}


@step("users")
def _():
    user = {"email": "py@example.com", "username": "py", "name": "Py", "password": "not used here"}
    made = admin.users.create(user)
    made.name = "Pythia"
    made.save()
    found = shown(admin.users.get(made.id), "username", "name", "state")
    made.block()
    blocked = admin.users.get(made.id).state
    made.unblock()
    return {"found": found, "blocked": blocked, "listed": [each.username for each in admin.users.list(search="py")]}


@step("a user whose name is taken")
def _():
    user = {"email": "dora2@example.com", "username": "dora", "name": "D", "password": "not used here"}
    admin.users.create(user)


@step("a user made by an ordinary user")
def _():
    developer.users.create({"email": "q@example.com", "username": "q", "name": "q", "password": "not used here"})


@step("tokens")
def _():
    user = admin.users.list(username="py")[0]
    token = user.personal_access_tokens.create({"name": "CI", "scopes": ["read_api"], "expires_at": "2090-01-01"})
    holder = client(token.token)
    holder.auth()
    listed = [each.name for each in admin.personal_access_tokens.list(user_id=user.id)]
    admin.personal_access_tokens.delete(token.id)
    return {**shown(token, "name", "scopes", "expires_at"), "holder": holder.user.username, "listed": listed}


@step("tokens of a project")
def _():
    token = owned.access_tokens.create({"name": "bot", "scopes": ["api"], "access_level": 30})
    bot = client(token.token)
    bot.auth()
    listed = [each.name for each in owned.access_tokens.list()]
    owned.access_tokens.delete(token.id)
    return {"bot": bot.user.name, "listed": listed, "left": len(owned.access_tokens.list())}


@step("releases")
def _():
    made = project.releases.create({"tag_name": "py-1", "ref": "main", "tag_message": "By Python", "description": "Notes"})
    link = made.links.create({"name": "app", "url": "https://example.com/app", "direct_asset_path": "/app"})
    found = project.releases.get("py-1")
    tag = project.tags.get("py-1").attributes
    linked = link.id in [each.id for each in found.links.list()]
    project.releases.delete("py-1")
    left = [each.tag_name for each in project.releases.list(get_all=True)]
    return {**shown(found, "name", "description"), "tag": tag["release"], "linked": linked, "left": left}


@step("protected tags")
def _():
    owned.protectedtags.create({"name": "py-*", "create_access_level": "40"})
    levels = owned.protectedtags.get("py-*").attributes["create_access_levels"]
    owned.protectedtags.delete("py-*")
    return [level["access_level"] for level in levels]


@step("pipelines")
def _():
    posted = project.commits.get(commits["first"]).statuses.create({"state": "success", "name": "py/pipe", "ref": "py"})
    [pipeline] = project.pipelines.list(ref="py", get_all=True)
    jobs = [each.name for each in project.pipelines.get(pipeline.id).jobs.list(get_all=True)]
    last = project.commits.get(commits["first"]).attributes["last_pipeline"]["id"]
    return {"same": pipeline.id == posted.pipeline_id == last, "status": pipeline.status, "jobs": jobs}


@step("a changed release")
def _():
    made = project.releases.create({"tag_name": "py-2", "ref": "main", "name": "Two", "description": "New"})
    made.description = "Changed"
    made.save()
    found = shown(project.releases.get("py-2"), "name", "description")
    project.releases.delete("py-2")
    return found


@step("a release that nobody made")
def _():
    project.releases.get("nothing")


@step("environments")
def _():
    made = project.environments.create({"name": "py-qa", "external_url": "https://qa.example.com"})
    made.external_url = "https://qa2.example.com"
    made.save()
    found = shown(project.environments.get(made.id), "slug", "tier", "external_url")
    made.stop()
    stopped = [each.name for each in project.environments.list(states="stopped", get_all=True)]
    made.delete()
    return {"found": found, "stopped": stopped, "left": len(project.environments.list(get_all=True))}


@step("deployments")
def _():
    deployment = {"environment": "py-prod", "sha": commits["third"], "ref": "main", "tag": False, "status": "running"}
    made = project.deployments.create(deployment)
    made.status = "success"
    made.save()
    listed = project.deployments.list(environment="py-prod", status="success", iterator=True, per_page=1)
    found = project.deployments.get(made.id)
    return {
        **shown(found, "status", "deployable"),
        "listed": [each.id for each in listed] == [made.id],
        "merge requests": found.mergerequests.list(get_all=True),
    }


@step("a deployment of nothing")
def _():
    deployment = {"environment": "py-prod", "sha": "f" * 40, "ref": "main", "tag": False, "status": "running"}
    project.deployments.create(deployment)


@step("freeze periods")
def _():
    # python-gitlab has no class for freeze periods.
    path = f"/projects/{owned.id}/freeze_periods"
    period = {"freeze_start": "0 23 * * 5", "freeze_end": "0 8 * * 1", "cron_timezone": "Europe/Berlin"}
    made = owner.http_post(path, post_data=period)
    owner.http_put(f"{path}/{made['id']}", post_data={"freeze_end": "0 9 * * 1"})
    listed = [each["freeze_end"] for each in owner.http_list(path, iterator=True, per_page=1)]
    owner.http_delete(f"{path}/{made['id']}")
    return {"zone": made["cron_timezone"], "listed": listed}


@step("deploy tokens")
def _():
    made = owned.deploytokens.create({"name": "py-deploy", "scopes": ["read_repository"], "expires_at": "2090-01-01"})
    found = shown(owned.deploytokens.get(made.id), "name", "scopes", "revoked", "expired")
    everywhere = made.id in [each.id for each in admin.deploytokens.list(iterator=True)]
    has_secret = bool(made.token)
    made.delete()
    left = len(owned.deploytokens.list(get_all=True))
    return {"found": found, "everywhere": everywhere, "secret": has_secret, "left": left}


@step("members by name")
def _():
    return [each.username for each in project.members.list(query="RITA", get_all=True)]


@step("projects by id")
def _():
    made = [owner.projects.create({"path": f"keyset-{number}", "lfs_enabled": False}) for number in range(3)]
    listed = owner.projects.list(pagination="keyset", order_by="id", sort="asc", per_page=1, search="keyset-", iterator=True)
    found = [shown(each, "path", "lfs_enabled") for each in listed]
    for each in made:
        each.delete()
    return found


@step("hooks")
def _():
    hook = owned.hooks.create({"url": "https://ci.example.com/hook", "push_events": True})
    hook.push_events = False
    hook.releases_events = True
    hook.save()
    found = shown(owned.hooks.get(hook.id), "url", "push_events", "releases_events")
    hook.delete()
    return {"found": found, "left": len(owned.hooks.list())}


json.dump(steps, sys.stdout)
