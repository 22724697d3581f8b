"""Tasks with dulwich."""

import os
import sys

from dulwich import porcelain

address = f"{os.environ['URL']}/{os.environ['PROJECT_PATH']}.git"
credentials = {"username": os.environ["USERNAME"], "password": os.environ["TOKEN"]}
repository = porcelain.clone(address, "clone", depth=1 if sys.argv[1] == "shallow" else None, **credentials)


def push():
    with open("clone/a.txt", "w") as file:
        file.write("a\n")
    porcelain.add(repository, "clone/a.txt")
    made = porcelain.commit(repository, b"Add a file", author=b"Lab <lab@example.com>", committer=b"Lab <lab@example.com>")
    porcelain.push(repository, address, b"HEAD:refs/heads/topic", **credentials)
    assert porcelain.ls_remote(address, **credentials)[b"refs/heads/topic"] == made
    porcelain.fetch(repository, address, **credentials)


def shallow():
    assert len(list(repository.get_walker())) == 1


globals()[sys.argv[1]]()
