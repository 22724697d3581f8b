import type { Tree } from '../support/tree.js'

/** An ordinary user who owns a project. */
export interface User {
  token: string
  /** Id of the project. */
  project: number
  /** Address of the project for git, with the token in it. */
  remote: string
}

/** Sends JSON as somebody; the answer's status and body. */
export async function call(
  tree: Tree,
  token: string,
  method: string,
  path: string,
  body?: object | string | Uint8Array<ArrayBuffer>,
  headers: Record<string, string> = {},
): Promise<{ status: number; body: Record<string, unknown> }> {
  const isRaw = typeof body === 'string' || body instanceof Uint8Array
  const answer = await fetch(`${tree.url}/api/v4${path}`, {
    method,
    headers: { 'PRIVATE-TOKEN': token, 'Content-Type': 'application/json', ...headers },
    body: body === undefined ? null : isRaw ? body : JSON.stringify(body),
  })
  const text = await answer.text()
  return { status: answer.status, body: text === '' ? {} : JSON.parse(text) }
}

export async function createUser(tree: Tree, username: string): Promise<User> {
  const made = async (token: string, path: string, body: object) => {
    const answer = await call(tree, token, 'POST', path, body)
    if (answer.status !== 201) throw new Error(`${path}: ${answer.status} ${JSON.stringify(answer.body)}`)
    return answer.body
  }
  const profile = { username, name: username, email: `${username}@example.com` }
  const user = await made(tree.rootToken, '/users', profile)
  const scopes = ['api', 'read_sagas', 'saga_report']
  const issued = await made(tree.rootToken, `/users/${user.id}/personal_access_tokens`, { name: 'x', scopes })
  const token = String(issued.token)
  const project = await made(token, '/projects', { path: 'demo', initialize_with_readme: true })
  const remote = `${tree.url.replace('://', `://any:${token}@`)}/${username}/demo.git`
  return { token, project: Number(project.id), remote }
}
