import type { Tree } from './tree.js'

type Body = object | string | Uint8Array<ArrayBuffer>

/** Sends JSON as the holder of a token. */
function send(
  url: string,
  token: string,
  method: string,
  path: string,
  body?: Body,
  headers: Record<string, string> = {},
): Promise<Response> {
  const isRaw = typeof body === 'string' || body instanceof Uint8Array
  return fetch(`${url}/api/v4${path}`, {
    method,
    headers: { 'PRIVATE-TOKEN': token, 'Content-Type': 'application/json', ...headers },
    body: body === undefined ? null : isRaw ? body : JSON.stringify(body),
  })
}

/** Returns a function that calls the API with a token, and rejects on a refusal. */
export function apiOf(url: string, token: string) {
  return async <Answer = unknown>(method: string, path: string, body?: object): Promise<Answer> => {
    const response = await send(url, token, method, path, body)
    const text = await response.text()
    if (!response.ok) throw new Error(`${method} ${path} was answered ${response.status}: ${text}`)
    return (text ? JSON.parse(text) : undefined) as Answer
  }
}

export type Api = ReturnType<typeof apiOf>

/** Calls the API with a token, and returns status and body of the answer. */
export async function call(
  { url }: Pick<Tree, 'url'>,
  token: string,
  method: string,
  path: string,
  body?: Body,
  headers?: Record<string, string>,
): Promise<{ status: number; body: Record<string, unknown> }> {
  const answer = await send(url, token, method, path, body, headers)
  const text = await answer.text()
  return { status: answer.status, body: text === '' ? {} : JSON.parse(text) }
}

/** An ordinary user who owns a project. */
export interface User {
  token: string
  /** Id of the project. */
  project: number
  /** Address of the project for git, with the token in it. */
  remote: string
}

/** Creates a user with a token and a project. */
export async function createUser(tree: Tree, username: string): Promise<User> {
  const profile = { username, name: username, email: `${username}@example.com` }
  const root = apiOf(tree.url, tree.rootToken)
  const user = await root<{ id: number }>('POST', '/users', profile)
  const scopes = ['api', 'read_sagas', 'saga_report']
  const tokens = `/users/${user.id}/personal_access_tokens`
  const { token } = await root<{ token: string }>('POST', tokens, { name: 'x', scopes })
  const given = { path: 'demo', initialize_with_readme: true }
  const { id: project } = await apiOf(tree.url, token)<{ id: number }>('POST', '/projects', given)
  const remote = `${tree.url.replace('://', `://any:${token}@`)}/${username}/demo.git`
  return { token, project, remote }
}
