import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { execa } from 'execa'
import { fetchAptFolder } from './apt-copy.js'

const compiler = { name: 'go', packages: ['golang-go'] }
const library = { name: 'go-gitlab', packages: ['golang-github-xanzy-go-gitlab-dev'] }

/**
 * The command that compiles and runs a file of Go which uses go-gitlab, from the packages of Debian in folders below
 * `toolsDir`, where apt fetches them without root. Null, with the reason reported, when they cannot be had.
 */
export async function findGitlabGo(toolsDir: string, log: (line: string) => void): Promise<string[] | null> {
  try {
    if (![compiler, library].every(({ name }) => existsSync(join(toolsDir, name))))
      log("fetching Go and GitLab's client for it with apt for later starts")
    const root = join(await folderOf(compiler, toolsDir), 'usr/lib/go')
    const sources = join(await folderOf(library, toolsDir), 'usr/share/gocode')
    // No modules, no other compiler and no C compiler: nothing is downloaded.
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
