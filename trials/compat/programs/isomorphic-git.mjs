import assert from 'node:assert/strict'
import fs from 'node:fs'
import git from 'isomorphic-git'
import http from 'isomorphic-git/http/node'

const url = `${process.env.URL}/${process.env.PROJECT_PATH}.git`
const dir = 'clone'
const onAuth = () => ({ username: process.env.USERNAME, password: process.env.TOKEN })
const author = { name: 'Lab', email: 'lab@example.com' }
const remote = { fs, http, dir, onAuth }
await git.clone({
  ...remote,
  url,
  singleBranch: process.argv[2] === 'shallow',
  depth: process.argv[2] === 'shallow' ? 1 : undefined,
})

const tasks = {
  async push() {
    await git.branch({ fs, dir, ref: 'topic', checkout: true })
    fs.writeFileSync(`${dir}/a.txt`, 'a\n')
    await git.add({ fs, dir, filepath: 'a.txt' })
    const sha = await git.commit({ fs, dir, author, message: 'Add a file' })
    const pushed = await git.push({ ...remote, ref: 'topic' })
    assert.ok(pushed.ok)
    const refs = await git.listServerRefs({ http, url, onAuth, prefix: 'refs/heads/topic' })
    assert.equal(refs[0].oid, sha)
    await git.push({ ...remote, ref: 'topic', remoteRef: 'topic', delete: true })
  },
  async shallow() {
    assert.equal((await git.log({ fs, dir })).length, 1)
    await git.fetch({ ...remote, tags: true })
  },
}
await tasks[process.argv[2]]()
