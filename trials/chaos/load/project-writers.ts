import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Api } from './api.js'
import { createWriter, type Writer } from './writer.js'

const run = promisify(execFile)
const project = 'projects/root%2Fchaos'

/** Runs git in a folder and returns its output, with a time limit of ten seconds. */
export async function git(folder: string, ...args: string[]): Promise<string> {
  const env = {
    PATH: process.env.PATH,
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_CONFIG_SYSTEM: '/dev/null',
    GIT_TERMINAL_PROMPT: '0',
    GIT_AUTHOR_NAME: 'chaos',
    GIT_AUTHOR_EMAIL: 'chaos@example.com',
    GIT_COMMITTER_NAME: 'chaos',
    GIT_COMMITTER_EMAIL: 'chaos@example.com',
  }
  const { stdout } = await run('git', ['-C', folder, ...args], {
    env,
    timeout: 10_000,
    maxBuffer: 64 * 1024 * 1024,
  })
  return stdout
}

/** Returns git's hash of a file. */
export const blobId = (content: string): string =>
  createHash('sha1')
    .update(`blob ${Buffer.byteLength(content)}\0${content}`)
    .digest('hex')

/** Creates the project with one commit, and returns its hash. */
export async function createProject(api: Api): Promise<string> {
  await api.call('projects', { name: 'chaos' })
  return String((await createCommit(api, 'first')).id)
}

const createCommit = (api: Api, name: string) =>
  api.json(`${project}/repository/commits`, {
    branch: 'main',
    commit_message: name,
    'actions[][action]': 'create',
    'actions[][file_path]': name,
    'actions[][content]': `content of ${name}`,
  })

const commitsOf = async (api: Api, branch: string, prefix: string) =>
  (await api.list(`${project}/repository/commits?ref_name=${branch}`))
    .map(({ title, id }) => [String(title), String(id)] as const)
    .filter(([title]) => title.startsWith(prefix))

/** Returns a writer of commits by the API; two of them write to one branch. */
export const commits = (api: Api, client: number): Writer =>
  createWriter(`commits ${client}`, 150, (ledger) => ({
    async write(number) {
      const name = `commit-${client}-${number}`
      ledger.begin(name)
      ledger.acknowledge(name, String((await createCommit(api, name)).id))
    },
    read: () => commitsOf(api, 'main', `commit-${client}-`),
  }))

/** Most commits of a push in a webhook. */
const commitsOfPushMax = 20

/** Returns a writer of commits by git push. A commit of a failed push is part of the next one. */
export function pushes(api: Api, token: string, clone: string): Writer {
  const waiting: [name: string, id: string][] = []
  return createWriter('pushes', 400, (ledger) => ({
    async write(number) {
      if (number === 1) {
        mkdirSync(clone)
        await git(clone, 'init', '--quiet', '--initial-branch', 'pushed')
      }
      if (waiting.length < commitsOfPushMax) {
        const name = `push-${number}`
        writeFileSync(join(clone, name), `content of ${name}`)
        await git(clone, 'add', name)
        await git(clone, 'commit', '--quiet', '--message', name)
        waiting.push([name, (await git(clone, 'rev-parse', 'HEAD')).trim()])
        ledger.begin(name)
      }
      const url = api.urls[number % api.urls.length]?.replace('://', `://root:${token}@`)
      await git(clone, 'push', '--quiet', `${url}/root/chaos.git`, 'HEAD:pushed')
      for (const [title, id] of waiting.splice(0)) ledger.acknowledge(title, id)
    },
    read: () => commitsOf(api, 'pushed', 'push-'),
  }))
}

/** Returns a writer of statuses of a commit, each `pending` first. */
export const statuses = (api: Api, sha: string): Writer =>
  createWriter('statuses', 100, (ledger) => ({
    async write(number) {
      const name = `status-${number}`
      for (const state of ['pending', 'success']) {
        ledger.begin(name, state)
        await api.call(`${project}/statuses/${sha}`, { name, state })
        ledger.acknowledge(name, state)
      }
    },
    read: async () =>
      (await api.list(`${project}/repository/commits/${sha}/statuses`)).map(
        ({ name, status }) => [String(name), String(status)] as const,
      ),
  }))

export const comments = (api: Api, sha: string): Writer =>
  createWriter('comments', 100, (ledger) => ({
    async write(number) {
      const note = `comment-${number}`
      ledger.begin(note, note)
      await api.call(`${project}/repository/commits/${sha}/comments`, { note })
      ledger.acknowledge(note, note)
    },
    read: async () =>
      (await api.list(`${project}/repository/commits/${sha}/comments`)).map(
        ({ note }) => [String(note), String(note)] as const,
      ),
  }))

export const broadcasts = (api: Api): Writer =>
  createWriter('broadcasts', 150, (ledger) => ({
    async write(number) {
      const message = `broadcast-${number}`
      ledger.begin(message, message)
      await api.call('broadcast_messages', { message })
      ledger.acknowledge(message, message)
    },
    read: async () =>
      (await api.list('broadcast_messages')).map(
        ({ message }) => [String(message), String(message)] as const,
      ),
  }))

/** Creates a webhook that sends all project events to a receiver. */
export async function createHook(api: Api, url: string): Promise<void> {
  const events = { push_events: 'true', note_events: 'true', job_events: 'true' }
  await api.call(`${project}/hooks`, { url, ...events })
}
