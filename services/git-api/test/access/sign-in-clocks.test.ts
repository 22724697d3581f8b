import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { getFreePort, identityClient } from '@switchyard/testing'
import { expect, it } from 'vitest'
import { startHarness } from '../harness.js'
import { openWindow } from './identity-window.js'

const minuteMs = 60_000

/** Signs in at a provider whose clock is ahead. @returns the final page of the console */
async function signInAt(aheadMs: number): Promise<string> {
  const [port, providerPort] = [await getFreePort(), await getFreePort()]
  const base = `http://127.0.0.1:${port}`
  const address = `${base}/api/v4/sign_in/sso`
  const options = {
    port: providerPort,
    redirectUris: [`${address}/callback`],
    accounts: { ada: { preferred_username: 'ada' } },
  }
  const worker = new Worker(new URL('./provider-with-other-clock.mjs', import.meta.url), {
    workerData: { aheadMs, options },
  })
  const [issuer] = await once(worker, 'message')
  const harness = await startHarness({
    env: {
      PORT: String(port),
      EXTERNAL_URL: base,
      OIDC_ISSUER: issuer,
      OIDC_CLIENT_ID: identityClient.id,
      OIDC_CLIENT_SECRET: identityClient.secret,
      OIDC_CREATE_USERS: 'true',
    },
  })
  try {
    const { at } = await openWindow().logIn(address, 'ada')
    return at.slice(base.length)
  } finally {
    await harness.close()
    await worker.terminate()
  }
}

it.each([-2 * minuteMs, 2 * minuteMs])(
  'a clock that is off by %d ms does not prevent sign-in',
  async (aheadMs) => {
    expect(await signInAt(aheadMs)).toBe('/console/')
  },
)

it('an ID token that expired long ago does not sign in', async () => {
  expect(await signInAt(-90 * minuteMs)).toContain('problem=not_verified')
})
