import { launchBrowser } from '@switchyard/testing'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Api, apiOf } from '../../support/api.js'
import { isTreeGiven, startTree, type Tree } from '../../support/tree.js'
import { open, signIn, visit } from './console-browser.js'

const browser: Browser | null = await launchBrowser()

let tree: Tree
let api: Api

beforeAll(async () => {
  if (!browser) return
  tree = await startTree({ env: { TRUSTED_ISSUER_HOSTS: 'ci.example.com' } })
  api = apiOf(tree.url, tree.rootToken)
})
afterAll(async () => {
  await browser?.close()
  await tree?.stop()
})

/**
 * Opens a window of the administrator in Berlin. A refusal that a test provokes does not count as an error of
 * the page.
 */
async function asRoot(use: (page: Page) => Promise<unknown>, token = tree.rootToken): Promise<void> {
  if (!browser) throw new Error('There is no browser')
  const { page, problems, close } = await visit(browser, { url: tree.url, token })
  try {
    await use(page)
    expect(problems.filter((problem) => !/status of (401|412)/.test(problem))).toEqual([])
  } finally {
    await close()
  }
}

interface Message {
  id: number
  message: string
  starts_at: string
  ends_at: string
  color: string
}

// On 31 October 2027, the hour from 2 to 3 occurs twice in Berlin; this is the second time.
const times = { starts_at: '2027-10-31T01:30:45.250Z', ends_at: '2027-11-02T10:20:37.000Z' }

const writeMessage = (message: string) =>
  api<Message>('POST', '/broadcast_messages', { message, ...times, color: '#1D4ED8' })
const readMessage = (id: number) => api<Message>('GET', `/broadcast_messages/${id}`)

describe.skipIf(!browser)('forms of the console', () => {
  it('change only the typed fields: a message keeps its times to the millisecond', async () => {
    const { id } = await writeMessage('Before')
    await asRoot(async (page) => {
      await open(page, `/broadcasts?edit=${id}`)
      expect(await page.getByLabel('Starts', { exact: true }).inputValue()).toBe('2027-10-31T02:30:45')
      const sent = page.waitForRequest((request) => request.method() === 'PUT')
      await page.getByLabel('Message', { exact: true }).fill('After')
      await page.getByRole('button', { name: 'Save' }).click()
      expect((await sent).postDataJSON()).toEqual({ message: 'After' })
      await page.getByRole('table', { name: 'Broadcasts' }).getByText('After').waitFor()
    })
    expect(await readMessage(id)).toMatchObject({ message: 'After', ...times })
  })

  it('keep the seconds of a changed time, and offer a choice in the hour that occurs twice', async () => {
    const { id } = await writeMessage('Twice')
    await asRoot(async (page) => {
      await open(page, `/broadcasts?edit=${id}`)
      await page.getByLabel('Starts', { exact: true }).fill('2027-10-31T02:45:10')
      await page.getByRole('button', { name: 'Save' }).click()
      await expect.poll(async () => (await readMessage(id)).starts_at).toBe('2027-10-31T01:45:10.000Z')
      await open(page, `/broadcasts?edit=${id}`)
      await page.getByLabel('this hour comes twice').selectOption({ index: 0 })
      await page.getByRole('button', { name: 'Save' }).click()
      await expect.poll(async () => (await readMessage(id)).starts_at).toBe('2027-10-31T00:45:10.000Z')
    })
  })

  it('report that another user was first, keep the text, and store it beside the other change', async () => {
    const { id } = await writeMessage('Mine')
    await asRoot(async (page) => {
      await open(page, `/broadcasts?edit=${id}`)
      const text = page.getByLabel('Message', { exact: true })
      await text.fill('Mine, longer')
      await api('PUT', `/broadcast_messages/${id}`, { message: 'Theirs', color: '#ff0000' })
      await page.getByRole('button', { name: 'Save' }).click()
      const alert = page.getByRole('alert')
      await alert.getByText('Somebody else has changed this meanwhile').waitFor()
      expect(await alert.textContent()).toContain('message “Theirs”')
      expect(await text.inputValue()).toBe('Mine, longer')
      expect((await readMessage(id)).message).toBe('Theirs')
      await page.getByRole('button', { name: 'Save' }).click()
      await expect.poll(async () => (await readMessage(id)).message).toBe('Mine, longer')
    })
    expect((await readMessage(id)).color).toBe('#ff0000')
  })

  it('do the same for users and projects', async () => {
    const user = await api<{ id: number }>('POST', '/users', {
      username: 'stale',
      name: 'Stale',
      email: 'stale@example.com',
    })
    await api('POST', '/projects', { name: 'stale', description: 'before', initialize_with_readme: true })
    await asRoot(async (page) => {
      await open(page, '/admin/users?q=stale')
      await page.getByRole('button', { name: 'Edit' }).click()
      const dialog = page.getByRole('dialog', { name: 'Edit user' })
      await dialog.getByLabel('Name', { exact: true }).fill('Fresh')
      await api('PUT', `/users/${user.id}`, { email: 'other@example.com' })
      await dialog.getByRole('button', { name: 'Save' }).click()
      await dialog.getByRole('alert').getByText('Somebody else has changed this').waitFor()
      await dialog.getByRole('button', { name: 'Save' }).click()
      await dialog.waitFor({ state: 'detached' })
      expect(await api('GET', `/users/${user.id}`)).toMatchObject({
        name: 'Fresh',
        email: 'other@example.com',
      })

      await open(page, '/projects/root/stale/settings')
      await page.getByLabel('Description').fill('after')
      await api('PUT', '/projects/root%2Fstale', { visibility: 'public' })
      await page.getByRole('button', { name: 'Save', exact: true }).click()
      await page.getByRole('alert').getByText('Somebody else has changed this').waitFor()
      expect(await page.getByLabel('Description').inputValue()).toBe('after')
      await page.getByRole('button', { name: 'Save', exact: true }).click()
      await page.getByRole('status').getByText('Saved').waitFor()
      expect(await api('GET', '/projects/root%2Fstale')).toMatchObject({
        description: 'after',
        visibility: 'public',
      })
      // The form continues with the stored values.
      await page.getByLabel('Description').fill('later')
      await page.getByRole('button', { name: 'Save', exact: true }).click()
      await expect
        .poll(async () => (await api<{ description: string }>('GET', '/projects/root%2Fstale')).description)
        .toBe('later')
    })
  })

  it('create a webhook of sagas, preview and test it, change it beside others, pause and delete it', async () => {
    const url = 'https://hooks.example.com/sagas'
    await asRoot(async (page) => {
      await open(page, '/sagas')
      await page.getByRole('main').getByRole('link', { name: 'Webhooks' }).click()
      await page.getByRole('heading', { level: 1, name: 'Webhooks of sagas' }).waitFor()
      await page.getByRole('button', { name: 'New webhook' }).click()
      const made = page.getByRole('dialog', { name: 'New webhook' })
      await made.getByLabel('Address').fill(url)
      await made.getByLabel('Secret').fill('0123456789abcdef')
      const template = '{"text": "{{event}}: {{saga.saga_id}}"}'
      await made.getByLabel('Template').fill(template)
      await made.getByRole('button', { name: 'Preview' }).click()
      await made.getByRole('region', { name: 'Preview' }).getByText('"saga.error: example"').waitFor()
      await made.getByRole('button', { name: 'Create' }).click()

      await page.getByRole('button', { name: `Test ${url}` }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Send' }).click()
      await page.getByRole('link', { name: `Deliveries to ${url}` }).click()
      await page.getByRole('table', { name: 'Deliveries' }).getByText('test', { exact: true }).waitFor()
      await page.getByRole('link', { name: 'Close' }).click()

      const read = async () => (await api<{ id: number }[]>('GET', '/sagas/webhooks'))[0]
      await page.getByRole('button', { name: `Edit ${url}` }).click()
      const edited = page.getByRole('dialog', { name: 'Edit webhook' })
      await edited.getByLabel('Service').fill('booking')
      await api('PUT', `/sagas/webhooks/${(await read())?.id}`, { events: ['saga.ended'] })
      await edited.getByRole('button', { name: 'Save' }).click()
      await edited.getByRole('alert').getByText('Somebody else has changed this').waitFor()
      await edited.getByRole('button', { name: 'Save' }).click()
      await edited.waitFor({ state: 'detached' })
      const stored = { service_name: 'booking', events: ['saga.ended'], custom_webhook_template: template }
      expect(await read()).toMatchObject(stored)

      await page.getByRole('button', { name: `Pause ${url}` }).click()
      await page.getByRole('table', { name: 'Webhooks' }).getByText('paused').waitFor()
      await page.getByRole('button', { name: `Delete ${url}` }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
      await page.getByText('There are no webhooks.').waitFor()
    })
  })

  it('change the role of a member only from the displayed one', async () => {
    const { id } = await api<{ id: number }>('POST', '/users', {
      username: 'roly',
      name: 'Roly',
      email: 'roly@example.com',
    })
    await api('POST', '/projects', { name: 'roles' })
    const member = `/projects/root%2Froles/members/${id}`
    await api('POST', '/projects/root%2Froles/members', { user_id: id, access_level: 30 })
    await asRoot(async (page) => {
      await open(page, '/projects/root/roles/settings')
      const role = page.getByLabel('Role of roly')
      await role.waitFor()
      await api('PUT', member, { access_level: 20 })
      await role.selectOption({ label: 'Maintainer' })
      await page.getByRole('alert').getByText('Somebody else has changed this').waitFor()
      expect(await api('GET', member)).toMatchObject({ access_level: 20 })
      await expect.poll(() => role.locator('option:checked').textContent()).toBe('Reporter')
      await role.selectOption({ label: 'Maintainer' })
      await expect.poll(() => api('GET', member)).toMatchObject({ access_level: 40 })
    })
  })

  it('find one of more than a hundred users and environments by typing', async () => {
    await api('POST', '/projects', { name: 'many', initialize_with_readme: true })
    for (let number = 100; number < 202; number += 1) {
      const username = `person-${number}`
      await api('POST', '/users', { username, name: `P ${number}`, email: `${username}@example.com` })
      await api('POST', '/projects/root%2Fmany/environments', { name: `env-${number}` })
    }
    const deployment = { environment: 'env-201', sha: 'main', ref: 'main', tag: false, status: 'success' }
    await api('POST', '/projects/root%2Fmany/deployments', deployment)
    await asRoot(async (page) => {
      await open(page, '/admin/tokens')
      await page.getByRole('button', { name: 'New token' }).click()
      const dialog = page.getByRole('dialog', { name: 'New token' })
      await dialog.getByLabel('User').fill('person-20')
      await expect.poll(() => dialog.locator('datalist option[value="person-201"]').count()).toBe(1)
      await dialog.getByLabel('User').fill('nobody-here')
      await dialog.getByLabel('Name').fill('for a person')
      await dialog.getByRole('checkbox', { name: 'read_api', exact: true }).check()
      await dialog.getByRole('button', { name: 'Create' }).click()
      await dialog.getByRole('alert').getByText('There is no user nobody-here').waitFor()
      await dialog.getByLabel('User').fill('person-201')
      await dialog.getByRole('button', { name: 'Create' }).click()
      await page.getByLabel('Secret').waitFor()
      await page.getByRole('button', { name: 'Close' }).click()
      const row = page.getByRole('row').filter({ hasText: 'for a person' })
      await row.getByText('person-201').waitFor()
      await page.getByLabel('User', { exact: true }).fill('person-201')
      await expect.poll(() => new URL(page.url()).searchParams.get('user_id')).toMatch(/^\d+$/)
      await expect.poll(() => page.getByRole('row').count()).toBe(2)

      await open(page, '/projects/root/many/deployments')
      await page.getByLabel('Environment', { exact: true }).fill('env-201')
      await expect.poll(() => new URL(page.url()).searchParams.get('environment')).toBe('env-201')
      const environments = page.getByRole('region', { name: 'Environments' })
      await environments.getByRole('searchbox').fill('env-20')
      await expect.poll(() => environments.getByRole('row').count()).toBe(3)
      await environments.getByRole('searchbox').fill('')
      await environments.getByText('102 in all').waitFor()
      await environments.getByRole('button', { name: 'Next' }).click()
      await environments.getByText('env-120').waitFor()
    })
  })

  it('keep typed text when the session ends, and continue after signing in again', async () => {
    const make = () =>
      api<{ id: number; token: string }>('POST', '/users/1/personal_access_tokens', {
        name: 'short',
        scopes: ['api'],
      })
    const first = await make()
    const second = await make()
    await asRoot(async (page) => {
      await open(page, '/broadcasts?edit=new')
      const text = `Typed for long ${first.id}`
      await page.getByLabel('Message', { exact: true }).fill(text)
      await api('DELETE', `/personal_access_tokens/${first.id}`)
      await page.getByRole('button', { name: 'Save' }).click()
      const dialog = page.getByRole('dialog', { name: 'Sign in again' })
      await dialog.getByLabel('Access token').fill('glpat-wrong')
      await dialog.getByRole('button', { name: 'Sign in' }).click()
      await dialog.getByRole('alert').waitFor()
      await dialog.getByLabel('Access token').fill(second.token)
      await dialog.getByRole('button', { name: 'Sign in' }).click()
      await dialog.waitFor({ state: 'detached' })
      expect(await page.getByLabel('Message', { exact: true }).inputValue()).toBe(text)
      await page.getByRole('button', { name: 'Save' }).click()
      await page.getByRole('table', { name: 'Broadcasts' }).getByText(text).waitFor()
    }, first.token)
  })

  it('do not keep a page without typed text, which asks to sign in', async () => {
    if (!browser) return
    const { id, token } = await api<{ id: number; token: string }>(
      'POST',
      '/users/1/personal_access_tokens',
      { name: 'short', scopes: ['api'] },
    )
    const { page, close } = await visit(browser, { url: tree.url })
    await signIn(page, token)
    await page.getByRole('link', { name: 'Broadcasts', exact: true }).first().click()
    await page.getByRole('heading', { level: 1, name: 'Broadcasts' }).waitFor()
    await api('DELETE', `/personal_access_tokens/${id}`)
    await page.getByRole('link', { name: 'Projects', exact: true }).first().click()
    await page.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor()
    expect(new URL(page.url()).searchParams.get('next')).toContain('/console/projects')
    await close()
  })
})

describe.skipIf(!browser || isTreeGiven)('trusted CI jobs', () => {
  it('get a rule, are checked against it, and lose it', async () => {
    await api('POST', '/projects', { name: 'keyless', initialize_with_readme: true })
    await asRoot(async (page) => {
      await open(page, '/projects/root/keyless/settings')
      await page.getByRole('button', { name: 'New rule for CI jobs' }).click()
      const rule = page.getByRole('dialog', { name: 'New rule for CI jobs' })
      await rule.getByLabel('Name of the rule').fill('Pushes to main')
      await rule.getByLabel('Issuer of the tokens').fill('https://ci.example.com')
      await rule.getByLabel('Claims, one a line').fill('repository=acme/engine\nref=refs/heads/main')
      await rule.getByLabel('Audience').fill('switchyard')
      await rule.getByLabel('read_repository').check()
      await rule.getByRole('button', { name: 'Create' }).click()
      const table = page.getByRole('table', { name: 'Trusted CI jobs' })
      await table.getByText('ref=refs/heads/main').waitFor()

      await page.getByRole('button', { name: 'Try the claims of a job…' }).click()
      const dialog = page.getByRole('dialog', { name: 'Try the claims of a job' })
      const tried = dialog.getByLabel('Identity token or its claims as JSON')
      const job = {
        iss: 'https://ci.example.com',
        aud: 'switchyard',
        repository: 'acme/engine',
      }
      await tried.fill(JSON.stringify({ ...job, ref: 'refs/heads/other' }))
      await dialog.getByText('ref is refs/heads/other, not refs/heads/main').waitFor()
      await tried.fill(JSON.stringify({ ...job, ref: 'refs/heads/main' }))
      await dialog.getByText('trusted', { exact: true }).waitFor()
      const times = { sub: 'job', iat: 1_800_000_000, exp: 1_800_000_300 }
      const parts = [{ alg: 'none' }, { ...job, ...times, ref: 'refs/heads/main' }].map((part) =>
        Buffer.from(JSON.stringify(part)).toString('base64url'),
      )
      await tried.fill(`${parts.join('.')}.`)
      await dialog.getByText('ERR_JOSE_ALG_NOT_ALLOWED').waitFor()
      await dialog.getByText('not trusted', { exact: true }).waitFor()
      await dialog.getByRole('button', { name: 'Close' }).click()

      await page.getByRole('button', { name: 'Distrust Pushes to main' }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Distrust' }).click()
      await page.getByText('No CI job is trusted.').waitFor()
    })
  })
})
