import { getFreePort } from '@switchyard/testing'
import { growthWhile } from '../support/memory.js'
import { startTree } from '../support/tree.js'
import { type Call, startRecorder } from './recorder.js'

/** A new installation with a user, behind a recorder of the tools' requests. */
export interface Laboratory {
  /** Address of the recorder, which the installation uses as its own. */
  url: string
  username: string
  token: string
  adminToken: string
  calls: Call[]
  /** Returns a name that no project has. */
  nextName(): string
  /** Sends a request to the installation itself; rejects unless it succeeds. */
  api(token: string, method: string, path: string, body?: object): Promise<unknown>
  /** Runs some work. @returns the largest growth of git-api's memory meanwhile, in bytes */
  growthOfGitApi(run: () => Promise<unknown>): Promise<number>
  stop(): Promise<void>
}

export async function openLaboratory(): Promise<Laboratory> {
  const port = await getFreePort()
  const url = `http://localhost:${port}`
  // Receivers of webhooks are on loopback, and tools send requests faster than people.
  const env = { EXTERNAL_URL: url, WEBHOOK_ALLOWED_HOSTS: '127.0.0.1', RATE_LIMIT_PER_MINUTE: '0' }
  const tree = await startTree({ env })
  const recorder = await startRecorder(port, tree.httpPort)
  const api = async (token: string, method: string, path: string, body?: object) => {
    const answer = await fetch(`${tree.url}/api/v4${path}`, {
      method,
      headers: { 'PRIVATE-TOKEN': token, ...(body && { 'Content-Type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    })
    const text = await answer.text()
    if (!answer.ok) throw new Error(`${method} ${path} was answered ${answer.status}: ${text}`)
    return text === '' ? null : JSON.parse(text)
  }
  const username = 'lab'
  const person = { username, name: 'Lab', email: 'lab@example.com' }
  const { id } = await api(tree.rootToken, 'POST', '/users', person)
  const given = { name: 'compat', scopes: ['api'] }
  const { token } = await api(tree.rootToken, 'POST', `/users/${id}/personal_access_tokens`, given)
  let projects = 0
  return {
    url,
    username,
    token,
    adminToken: tree.rootToken,
    calls: recorder.calls,
    nextName() {
      projects += 1
      return `project-${projects}`
    },
    api,
    growthOfGitApi: (run) => growthWhile(tree.pid, 'git-api', run),
    async stop() {
      await recorder.stop()
      await tree.stop()
    },
  }
}
