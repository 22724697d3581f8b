import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Database } from '@switchyard/db'
import { getFreePort } from '@switchyard/local-servers/free-port'
import { hashToken } from '@switchyard/service-kit/http'
import { untilAnswers } from '../../support/until-answers.js'

const main = fileURLToPath(new URL('../../../services/saga-reporter/dist/bundle/main.js', import.meta.url))

/** Starts the service in a separate process, as in production. */
export async function startService(databaseUrl: string) {
  const port = await getFreePort()
  const child = spawn(process.execPath, [main], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: {
      ...process.env,
      DATABASE_URL: databaseUrl,
      PORT: String(port),
      GRPC_PORT: String(await getFreePort()),
      RATE_LIMIT_PER_MINUTE: '0',
    },
  })
  const exited = once(child, 'exit')
  await untilAnswers(child, port, '/-/liveness')
  return {
    port,
    async stop() {
      child.kill()
      await exited
    },
  }
}

/** Creates a token that may read sagas. */
export async function createToken({ prisma }: Database): Promise<string> {
  const name = `bench-${randomBytes(6).toString('hex')}`
  const email = `${name}@example.com`
  const user = await prisma.user.create({
    data: { username: name, usernameKey: name, name, email, emailKey: email },
  })
  const secret = randomBytes(20).toString('hex')
  await prisma.personalAccessToken.create({
    data: { userId: user.id, name, tokenHash: hashToken(secret), scopes: ['read_sagas'] },
  })
  return secret
}
