import { mkdtempSync, rmSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { homedir, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { execa } from 'execa'
import type { Laboratory } from './laboratory.js'
import { type Installed, placeProgram } from './tools.js'

export interface LabProject {
  id: number
  name: string
  /** `lab/name` */
  path: string
  /** Address for git, with the user's token. */
  remote: string
}

/** A JSON answer of the API. */
// biome-ignore lint/suspicious/noExplicitAny: each driver looks at fields of its own
type Json = any

/** The environment of a task: an empty folder, a user and the administrator, and the tool. */
export class Work {
  readonly folder = mkdtempSync(join(tmpdir(), 'switchyard-compat-'))
  /** The paths of the projects that the task created. */
  readonly projects: string[] = []
  readonly #lab: Laboratory
  readonly #tool: Installed

  constructor(lab: Laboratory, tool: Installed) {
    this.#lab = lab
    this.#tool = tool
  }

  get url() {
    return this.#lab.url
  }
  /** Token of the user, with the scope `api`. */
  get token() {
    return this.#lab.token
  }
  get adminToken() {
    return this.#lab.adminToken
  }
  get username() {
    return this.#lab.username
  }

  /** Returns a path in the `node_modules` of the tool. */
  module = (path: string) => join(this.#tool.folder, 'node_modules', path)

  /** Returns a file of `programs/`, beside the packages of the tool. */
  program = (file: string) => placeProgram(join(import.meta.dirname, 'programs', file), this.#tool)

  /** Sends a request as the user, without recording it. */
  api = (method: string, path: string, body?: object): Promise<Json> =>
    this.#lab.api(this.token, method, path, body)

  apiAsAdmin = (method: string, path: string, body?: object): Promise<Json> =>
    this.#lab.api(this.adminToken, method, path, body)

  growthOfGitApi = (run: () => Promise<unknown>): Promise<number> => this.#lab.growthOfGitApi(run)

  /** Creates a project of the user, with a commit unless `files` is null. */
  async project(
    files: { [path: string]: string } | null = { 'README.md': '# Tried\n' },
    given: { visibility?: string } = {},
  ): Promise<LabProject> {
    const name = this.#lab.nextName()
    const { id } = await this.api('POST', '/projects', { name, ...given })
    const path = `${this.username}/${name}`
    this.projects.push(path)
    const made = { id, name, path, remote: this.remoteOf(path) }
    if (files) await this.commit(made, files)
    return made
  }

  /** Creates another user. */
  async user(): Promise<{ id: number; username: string }> {
    const username = this.#lab.nextName().replace('project', 'person')
    const person = { username, name: username, email: `${username}@example.com` }
    return { id: (await this.apiAsAdmin('POST', '/users', person)).id, username }
  }

  remoteOf(path: string): string {
    const address = new URL(`${this.url}/${path}.git`)
    address.username = this.username
    address.password = this.token
    return address.href
  }

  /** Makes a commit by the API on `main`. @returns its hash */
  async commit(
    project: LabProject,
    files: { [path: string]: string },
    message = 'Add files',
  ): Promise<string> {
    const actions = Object.entries(files).map(([file_path, content]) => ({
      action: 'upsert',
      file_path,
      content,
    }))
    const given = { branch: 'main', commit_message: message, actions }
    return (await this.api('POST', `/projects/${project.id}/repository/commits`, given)).id
  }

  /** Clones a project into a new folder of its name. */
  async clone({ name, remote }: LabProject): Promise<string> {
    await this.run('git', ['clone', '--quiet', remote, name])
    return join(this.folder, name)
  }

  async write(files: { [path: string]: string }, folder = this.folder): Promise<void> {
    for (const [path, text] of Object.entries(files)) {
      await mkdir(dirname(join(folder, path)), { recursive: true })
      await writeFile(join(folder, path), text)
    }
  }

  /**
   * Runs a program as a CI job would, without the settings of the user who runs the trial.
   *
   * @returns its output
   */
  async run(
    program: string,
    args: string[],
    { env = {}, cwd = this.folder }: { env?: { [name: string]: string }; cwd?: string } = {},
  ): Promise<string> {
    const { all } = await execa(program, args, {
      cwd,
      all: true,
      stdin: 'ignore',
      extendEnv: false,
      timeout: 300_000,
      env: { ...this.#environment(), ...env },
    })
    return all
  }

  /** Runs a program of the tool's package. */
  runNode(path: string, args: string[], options: { env?: { [name: string]: string }; cwd?: string } = {}) {
    return this.run(process.execPath, [this.module(path), ...args], options)
  }

  close(): void {
    rmSync(this.folder, { recursive: true, force: true })
  }

  #environment(): { [name: string]: string } {
    const { NODE_EXTRA_CA_CERTS: authorities } = process.env
    return {
      PATH: [dirname(process.execPath), '/usr/local/bin', '/usr/bin', '/bin'].join(':'),
      HOME: this.folder,
      LANG: 'C.UTF-8',
      NO_COLOR: '1',
      ...(authorities && { NODE_EXTRA_CA_CERTS: authorities }),
      // npm uses the registry of the user who runs the trial.
      npm_config_userconfig: process.env.npm_config_userconfig ?? join(homedir(), '.npmrc'),
      npm_config_cache: process.env.npm_config_cache ?? join(homedir(), '.npm'),
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_TERMINAL_PROMPT: '0',
      GIT_AUTHOR_NAME: 'Lab',
      GIT_AUTHOR_EMAIL: 'lab@example.com',
      GIT_COMMITTER_NAME: 'Lab',
      GIT_COMMITTER_EMAIL: 'lab@example.com',
      URL: this.url,
      TOKEN: this.token,
      ADMIN_TOKEN: this.adminToken,
      USERNAME: this.username,
    }
  }
}
