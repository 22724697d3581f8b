import { fileURLToPath } from 'node:url'
import { createToken, createUser } from '@switchyard/testing'
import { execa } from 'execa'
import { pushSample, startGitHarness } from '../git-harness.js'

/** What a step of a client returned, or the error class and the message that its caller saw. */
export type Steps = Record<string, unknown>

/**
 * Runs a script of steps with a client of GitLab, against a project with a small history of its own.
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
    const { stdout } = await execa(program, [file], { input, env: withoutSettings, timeout: 100_000 })
    return { harness, project, commits, steps: JSON.parse(stdout) as Steps }
  } catch (error) {
    await harness.close()
    throw error
  }
}

export type ClientRun = Awaited<ReturnType<typeof runClient>>

/** Settings that a developer's shell may have for these clients. */
const withoutSettings = { PYTHON_GITLAB_CFG: '', GITLAB_API_ENDPOINT: '', GITLAB_API_PRIVATE_TOKEN: '' }
