import { fileURLToPath } from 'node:url'
import { createToken, createUser } from '@switchyard/testing'
import { execa } from 'execa'
import { pushSample, startGitHarness } from '../git-harness.js'

/** The results of a client's steps: the returned value, or the class and the message of the error. */
export type Steps = Record<string, unknown>

/**
 * Runs a script of steps with a client of GitLab, against a new project with a small history.
 *
 * @param program interpreter that has the client
 */
export async function runClient(program: string, script: string) {
  const harness = await startGitHarness()
  try {
    const { project, work, commits } = await pushSample(harness)
    await work.close()
    const admin = await createUser(harness.database, { username: 'ada', admin: true })
    const tokens = { ...harness.tokens, admin: (await createToken(harness.database, admin)).secret }
    const given = { url: harness.baseUrl, project: project.pathWithNamespace, tokens, commits }
    const file = fileURLToPath(new URL(script, import.meta.url))
    const input = JSON.stringify(given)
    const { stdout } = await execa(program, [file], { input, env: withoutSettings, timeout: 300_000 })
    return { harness, project, commits, steps: JSON.parse(stdout) as Steps }
  } catch (error) {
    await harness.close()
    throw error
  }
}

export type ClientRun = Awaited<ReturnType<typeof runClient>>

/** Clears settings of these clients that a developer's shell may have. */
const withoutSettings = { PYTHON_GITLAB_CFG: '', GITLAB_API_ENDPOINT: '', GITLAB_API_PRIVATE_TOKEN: '' }
