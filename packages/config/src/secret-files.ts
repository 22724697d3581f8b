import { readFileSync, statSync } from 'node:fs'

/**
 * Largest file of a secret, far larger than any secret, so that a wrong path costs neither memory nor time.
 */
const fileBytesMax = 1024 * 1024

export interface SecretsRead {
  /** The environment with the secrets from files, without the names of the files. */
  env: NodeJS.ProcessEnv
  /**
   * The problem of each secret that could not be read, by its variable, without the path and without any
   * content.
   */
  problems: Map<string, string>
}

/**
 * Reads `NAME` from the file that `NAME_FILE` names. White space at the end of a file does not belong to the
 * secret. An empty variable counts as unset.
 *
 * @param names variables of secrets
 */
export function readSecretFiles(names: readonly string[], given: NodeJS.ProcessEnv): SecretsRead {
  const env = { ...given }
  const problems = new Map<string, string>()
  for (const name of names) {
    const fileVariable = `${name}_FILE`
    const path = env[fileVariable]
    delete env[fileVariable]
    if (!path) continue
    if (env[name]) {
      problems.set(name, `${name} and ${fileVariable} are both set: unset one of them`)
      continue
    }
    const content = readSecret(path)
    if (typeof content === 'string') env[name] = content
    else problems.set(name, `${fileVariable}: ${content.problem}`)
  }
  return { env, problems }
}

function readSecret(path: string): string | { problem: string } {
  try {
    // Opening a pipe would wait for its writer, and a device may never end.
    const file = statSync(path)
    if (!file.isFile()) return { problem: 'it does not name a regular file' }
    if (file.size > fileBytesMax) return { problem: `the file is larger than ${fileBytesMax} bytes` }
    return readFileSync(path, 'utf8').trimEnd() || { problem: 'the file is empty' }
  } catch (error) {
    return { problem: `the file cannot be read (${(error as NodeJS.ErrnoException).code})` }
  }
}
