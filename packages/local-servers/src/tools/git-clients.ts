import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { execa } from 'execa'
import { type AptPackages, type AptTool, fetchAptCopy, fetchAptFolder, findAptCopy } from './apt-copy.js'
import { findOnPath } from './find-on-path.js'

/** Other implementations of git, which tests use as clients of git-api. */
const dulwich = { name: 'dulwich', packages: ['python3-dulwich'] }
const jgit = { name: 'jgit', packages: ['jgit-cli'] }

/** A command without its last arguments. */
type Command = string[]
type Log = (line: string) => void

/**
 * Finds a Python with the library dulwich, among the system's packages, otherwise in a copy below `toolsDir`,
 * which apt fetches without root. Null, with the reason reported, when there is none: only tests against a
 * real dulwich need it.
 */
export async function findDulwich(toolsDir: string, log: Log): Promise<Command | null> {
  const python = ['/usr/bin/python3', findOnPath('python3') ?? ''].find(existsSync)
  const withFolders = (folders: string[]) => ['env', `PYTHONPATH=${folders.join(':')}`, python ?? '']
  const packagesOf = (root: string) => join(root, 'usr/lib/python3/dist-packages')
  return findClient(dulwich, toolsDir, log, async (root) => {
    if (!python) throw new Error('there is no python3')
    const command = withFolders([...(root ? [packagesOf(root)] : []), packagesOf('/')])
    await run([...command, '-c', 'import dulwich.porcelain'])
    return command
  })
}

/** Finds JGit's command line as {@link findDulwich} does. It needs a Java on PATH, which is not fetched. */
export async function findJgit(toolsDir: string, log: Log): Promise<Command | null> {
  return findClient(jgit, toolsDir, log, async (root) => {
    const java = findOnPath('java')
    if (!java) throw new Error('there is no java')
    const folders = [...(root ? [join(root, 'usr/share/java')] : []), '/usr/share/java'].filter(existsSync)
    const jars = folders.flatMap((folder) =>
      readdirSync(folder)
        .filter((name) => name.endsWith('.jar'))
        .map((name) => join(folder, name)),
    )
    const command = [java, '-cp', jars.join(':'), 'org.eclipse.jgit.pgm.Main']
    await run([...command, 'version'])
    return command
  })
}

const gitLfs: AptTool = { name: 'git-lfs', packages: ['git-lfs'], binaries: ['usr/bin/git-lfs'] }

/** Finds the program git-lfs as {@link findDulwich} does. git finds it when its folder is on PATH. */
export async function findGitLfs(toolsDir: string, log: Log): Promise<string | null> {
  const present = findOnPath('git-lfs') ?? findAptCopy(gitLfs, toolsDir)
  if (present) return present
  log('fetching git-lfs with apt for later starts')
  return fetchAptCopy(gitLfs, toolsDir).catch((error: unknown) => skipped(gitLfs, error, log))
}

/**
 * Finds a client.
 *
 * @param commandIn makes the command from the packages below a folder, null: those of the system, and tries
 * it out
 */
async function findClient(
  wanted: AptPackages,
  toolsDir: string,
  log: Log,
  commandIn: (root: string | null) => Promise<Command>,
): Promise<Command | null> {
  const copy = join(toolsDir, wanted.name)
  const present = await commandIn(existsSync(copy) ? copy : null).catch(() => null)
  if (present) return present
  log(`fetching ${wanted.name} with apt for later starts`)
  try {
    return await commandIn(await fetchAptFolder(wanted, toolsDir, () => {}))
  } catch (error) {
    return skipped(wanted, error, log)
  }
}

function skipped(wanted: AptPackages, error: unknown, log: Log): null {
  const reason = error instanceof Error ? error.message.split('\n')[0] : String(error)
  log(`SKIPPED: tests with the git client ${wanted.name}, because there is none (${reason}).`)
  log(`         To run them, type "sudo apt-get install -y ${wanted.packages[0]}".`)
  return null
}

const run = ([program = '', ...args]: Command) => execa(program, args)

const compiler = { name: 'go', packages: ['golang-go'] }
const library = { name: 'go-gitlab', packages: ['golang-github-xanzy-go-gitlab-dev'] }

/**
 * Returns the command that compiles and runs a Go file that uses go-gitlab. Its packages are in folders below
 * `toolsDir`, where apt fetches them without root. Null, with the reason reported, when they cannot be
 * fetched.
 */
export async function findGitlabGo(toolsDir: string, log: (line: string) => void): Promise<string[] | null> {
  try {
    if (![compiler, library].every(({ name }) => existsSync(join(toolsDir, name))))
      log("fetching Go and GitLab's client for it with apt for later starts")
    const root = join(await folderOf(compiler, toolsDir), 'usr/lib/go')
    const sources = join(await folderOf(library, toolsDir), 'usr/share/gocode')
    // No modules, no other compiler and no C compiler, so that nothing is downloaded.
    const settings = ['GO111MODULE=off', 'GOFLAGS=', 'GOTOOLCHAIN=local', 'CGO_ENABLED=0']
    const go = ['env', `GOROOT=${root}`, `GOPATH=${sources}`, ...settings, join(root, 'bin/go')]
    await execa(go[0] ?? '', [...go.slice(1), 'version'])
    return [...go, 'run']
  } catch (error) {
    log(
      `SKIPPED: tests with GitLab's client for Go, because ${error instanceof Error ? error.message : error}`,
    )
    return null
  }
}

async function folderOf(wanted: typeof compiler, toolsDir: string): Promise<string> {
  const folder = join(toolsDir, wanted.name)
  return existsSync(folder) ? folder : fetchAptFolder(wanted, toolsDir, () => {})
}
