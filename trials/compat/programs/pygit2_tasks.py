"""Tasks with pygit2, that is, libgit2."""

import os
import sys

import pygit2

address = f"{os.environ['URL']}/{os.environ['PROJECT_PATH']}.git"
callbacks = pygit2.RemoteCallbacks(credentials=pygit2.UserPass(os.environ["USERNAME"], os.environ["TOKEN"]))
repository = pygit2.clone_repository(address, "clone", callbacks=callbacks)


def push():
    blob = repository.create_blob(b"a\n")
    builder = repository.TreeBuilder(repository.head.peel().tree)
    builder.insert("a.txt", blob, pygit2.GIT_FILEMODE_BLOB)
    person = pygit2.Signature("Lab", "lab@example.com")
    parents = [repository.head.target]
    made = repository.create_commit("refs/heads/topic", person, person, "Add a file", builder.write(), parents)
    repository.remotes["origin"].push(["refs/heads/topic"], callbacks=callbacks)
    listed = repository.remotes["origin"].ls_remotes(callbacks=callbacks)
    assert made in [each["oid"] for each in listed]
    repository.remotes["origin"].push([":refs/heads/topic"], callbacks=callbacks)
    repository.remotes["origin"].fetch(callbacks=callbacks)


globals()[sys.argv[1]]()
