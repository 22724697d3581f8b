// One of the two processes of `storage-check.mjs`. It works on one mount and sends what it saw. Arguments:
// the folder of the check as this mount shows it, the name of this process, and the seconds for which it
// commits.
import { execFileSync } from 'node:child_process'
import { closeSync, openSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const [folder = '', name = '', seconds = '0'] = process.argv.slice(2)
/** Number of commits after which references are packed, as housekeeping does. */
const packEvery = 20

const steps = {
  /**
   * Moves the branch from commit to commit, as every push does.
   *
   * @returns the commits that git acknowledged
   */
  commit() {
    const acknowledged = []
    const endMs = Date.now() + Number(seconds) * 1000
    for (let round = 1; Date.now() < endMs; round += 1) {
      const tip = tryGit('rev-parse', '--verify', 'refs/heads/main')
      const commit = tip && tryGit('commit-tree', '-p', tip, '-m', `${name} ${round}`, `${tip}^{tree}`)
      if (commit && tryGit('update-ref', 'refs/heads/main', commit, tip) !== null) acknowledged.push(commit)
      if (round % packEvery === 0) tryGit('pack-refs', '--all')
    }
    return acknowledged
  },
  /**
   * Creates files that the other process creates, too.
   *
   * @returns the numbers of those that this process created
   */
  create({ count }) {
    const made = []
    for (let number = 0; number < count; number += 1) {
      try {
        closeSync(openSync(join(folder, 'created', String(number)), 'wx'))
        made.push(number)
      } catch (error) {
        if (error.code !== 'EEXIST') throw error
      }
    }
    return made
  },
  /** Replaces a file by renaming another, as references are written. */
  write({ file, text }) {
    writeFileSync(join(folder, `${file}.new`), text)
    renameSync(join(folder, `${file}.new`), join(folder, file))
    return text
  },
  /**
   * Reads a file.
   *
   * @returns its text as this mount shows it; null when it shows none
   */
  read({ file }) {
    try {
      return readFileSync(join(folder, file), 'utf8')
    } catch (error) {
      if (error.code === 'ENOENT') return null
      throw error
    }
  },
}

/** Returns the output of git; null when it fails, as it does for the second of two writers. */
function tryGit(...args) {
  const author = {
    GIT_AUTHOR_NAME: name,
    GIT_AUTHOR_EMAIL: name,
    GIT_COMMITTER_NAME: name,
    GIT_COMMITTER_EMAIL: name,
  }
  const env = { PATH: process.env.PATH, GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null', ...author }
  const options = { env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }
  const safe = ['-c', 'safe.directory=*', `--git-dir=${join(folder, 'repository.git')}`]
  try {
    return execFileSync('git', [...safe, ...args], options).trim()
  } catch {
    return null
  }
}

process.on('message', ({ step, ...given }) => {
  try {
    process.send({ result: steps[step](given) })
  } catch (error) {
    process.send({ failure: error.message })
  }
})
process.on('disconnect', () => process.exit())
