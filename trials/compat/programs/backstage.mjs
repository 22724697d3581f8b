import assert from 'node:assert/strict'
import { ConfigReader } from '@backstage/config'
import { GitlabDiscoveryEntityProvider } from '@backstage/plugin-catalog-backend-module-gitlab'

const { URL: url, TOKEN: token, PROJECT_PATH: path } = process.env
const { host } = new URL(url)
const logger = { child: () => logger, debug() {}, info() {}, warn: console.warn, error: console.error }
const config = new ConfigReader({
  integrations: { gitlab: [{ host, apiBaseUrl: `${url}/api/v4`, baseUrl: url, token }] },
  catalog: {
    providers: {
      gitlab: { lab: { host, branch: 'main', fallbackBranch: 'main', entityFilename: 'README.md' } },
    },
  },
})
let run
const schedule = {
  run: async ({ fn }) => {
    run = fn
  },
}
const found = []
const connection = { applyMutation: async ({ entities }) => found.push(...entities), refresh: async () => {} }
const [provider] = GitlabDiscoveryEntityProvider.fromConfig(config, { logger, schedule })
await provider.connect(connection)
await run()
const locations = found.map(({ entity }) => entity.spec.target)
assert.ok(locations.includes(`${url}/${path}/-/blob/main/README.md`), locations.join(' '))
