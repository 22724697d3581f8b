// Checks whether two mounts of a shared file system are safe for the repositories of two git-api. Two
// processes race through git, one on each folder, for some seconds. Exits with 0: safe; 1: not safe; 2: not
// checked.
import { execFileSync, fork } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, rmSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { readArguments } from './setup/arguments.mjs'
import { commandOf } from './setup/installed.mjs'

const usage = `${commandOf('storage:check', 'npm run storage:check --')} [--seconds N] FOLDER FOLDER
  Races two processes through git, one over each of the two mounts, and says whether a commit was lost.
  --seconds N  for how long, 5 to 600 (20)`
const { values, operands } = readArguments(usage, { settings: ['seconds'], operands: ['FOLDER', 'FOLDER'] })
const race = new URL('./storage-race.mjs', import.meta.url).pathname
const files = 300
const rounds = 300
/** Time limit of a step outside of the race, because a hanging mount must not keep the check running. */
const stepMsMax = 60_000

function readMounts() {
  const seconds = Number(values.seconds ?? 20)
  if (!(seconds >= 5 && seconds <= 600)) throw new Error(`--seconds ${values.seconds} is not 5 to 600`)
  // npm and pnpm change the folder; paths are relative to that of the caller.
  const folders = operands.map((folder) => resolve(process.env.INIT_CWD ?? process.cwd(), folder))
  for (const folder of folders) {
    if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) throw new Error(`${folder} is no folder`)
  }
  return { seconds, folders }
}

/** Starts a process that works on one mount. */
function startProcess(folder, name, seconds) {
  const child = fork(race, [folder, name, String(seconds)], { env: { PATH: process.env.PATH }, execArgv: [] })
  return {
    async ask(step, given = {}, timeoutMs = stepMsMax) {
      child.send({ step, ...given })
      const late = delay(timeoutMs, [{ failure: `${folder} did not answer in time` }], { ref: false })
      const [{ result, failure }] = await Promise.race([once(child, 'message'), late])
      if (failure !== undefined) throw new Error(failure)
      return result
    },
    // A process that waits for a mount cannot be ended, and must not keep this one running.
    close() {
      child.disconnect()
      child.kill('SIGKILL')
      child.unref()
    },
  }
}

const git = (folder, ...args) =>
  execFileSync('git', ['-c', 'safe.directory=*', `--git-dir=${join(folder, 'repository.git')}`, ...args], {
    encoding: 'utf8',
    timeout: stepMsMax,
    maxBuffer: 256 * 1024 * 1024,
    stdio: ['ignore', 'pipe', 'pipe'],
  }).trim()

function prepare(folder) {
  mkdirSync(join(folder, 'created'), { recursive: true })
  execFileSync('git', ['init', '--quiet', '--bare', join(folder, 'repository.git')], { timeout: stepMsMax })
  const author = ['-c', 'user.name=check', '-c', 'user.email=check']
  const tree = git(folder, 'hash-object', '-t', 'tree', '-w', '/dev/null')
  git(folder, 'update-ref', 'refs/heads/main', git(folder, ...author, 'commit-tree', '-m', 'Start', tree))
}

/** Finds commits that git acknowledged to one of the processes, but that are missing in the branch. */
async function findLostCommits(folders, processes, seconds) {
  const timeoutMs = seconds * 1000 + stepMsMax
  const made = await Promise.all(processes.map((process) => process.ask('commit', {}, timeoutMs)))
  const all = made.flat()
  const problems = folders.flatMap((folder, index) => {
    const stored = new Set(git(folder, 'rev-list', 'refs/heads/main').split('\n'))
    const lost = all.filter((commit) => !stored.has(commit)).length
    git(folder, 'fsck', '--connectivity-only', '--no-dangling', '--no-progress')
    return lost === 0
      ? []
      : [`${lost} of ${all.length} acknowledged commits are lost, as mount ${index + 1} shows it`]
  })
  if (made.some(({ length }) => length === 0)) problems.push('one of the processes could not commit at all')
  return { problems, count: all.length }
}

/** Finds files that both processes created, although only one of them can. */
async function findFilesCreatedTwice(processes) {
  const [one, two] = await Promise.all(processes.map((process) => process.ask('create', { count: files })))
  const twice = one.filter((number) => two.includes(number)).length
  return twice === 0 ? [] : [`${twice} of ${files} files were created by both processes (O_EXCL)`]
}

/** Finds files that one process has replaced, and of which the other process reads an older text. */
async function findStaleReads([one, two]) {
  let stale = 0
  for (let round = 0; round < rounds; round += 1) {
    const [writer, reader] = round % 2 === 0 ? [one, two] : [two, one]
    const given = { file: 'replaced', text: String(round) }
    await writer.ask('write', given)
    if ((await reader.ask('read', given)) !== given.text) stale += 1
  }
  return stale === 0
    ? []
    : [`${stale} of ${rounds} reads showed an older file than the other mount had written`]
}

async function check({ seconds, folders: mounts }) {
  const name = `switchyard-storage-check-${randomUUID()}`
  const folders = mounts.map((mount) => join(mount, name))
  const processes = []
  try {
    prepare(folders[0])
    processes.push(...folders.map((folder, index) => startProcess(folder, `mount-${index + 1}`, seconds)))
    const isSeen = (await processes[1].ask('read', { file: 'repository.git/HEAD' })) !== null
    if (!isSeen) return { problems: [`${mounts[1]} does not show what is made in ${mounts[0]}`], count: 0 }
    const stale = await findStaleReads(processes)
    const twice = await findFilesCreatedTwice(processes)
    const { problems, count } = await findLostCommits(folders, processes, seconds)
    return { problems: [...problems, ...stale, ...twice], count }
  } finally {
    for (const process of processes) process.close()
    for (const folder of folders) rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  }
}

async function main() {
  const given = readMounts()
  console.log(`• two processes race for ${given.seconds} seconds …`)
  const { problems, count } = await check(given)
  if (problems.length === 0)
    console.log(`✓ safe: none of ${count} acknowledged commits is lost, and every read was up to date`)
  for (const problem of problems) console.error(`✗ not safe: ${problem}`)
  return problems.length === 0 ? 0 : 1
}

process.exit(
  await main().catch((error) => {
    console.error(`✗ not checked: ${error.message}`)
    return 2
  }),
)
