import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { upstreamNames } from './support/gateway.js'
import { expectedLocation, httpLocations, parseNginx, type Route } from './support/nginx-locations.js'

const read = (name: string) => readFileSync(new URL(`../${name}`, import.meta.url), 'utf8')
const routes = JSON.parse(read('routes.json')) as Route[]

describe('nginx.conf and routes.json', () => {
  it('route the same paths to the same services, in the same order', async () => {
    const locations = httpLocations(await parseNginx(read('nginx.conf')))
    expect(locations.map(({ inner: _, ...location }) => location)).toEqual(routes.map(expectedLocation))
  })

  it('a location with its own settings stays with its service', async () => {
    const locations = httpLocations(await parseNginx(read('nginx.conf'))).filter(
      ({ inner }) => inner.length > 0,
    )
    expect(locations.map(({ service }) => service)).toEqual([
      'saga-reporter',
      'admin-broadcast',
      'jobqueue-metrics',
      'jobqueue-metrics',
      'console',
      'git-api',
    ])
    for (const { service, inner } of locations) expect(new Set(inner)).toEqual(new Set([service]))
  })

  it('the last entry matches every remaining path', () => {
    expect(routes.at(-1)).toEqual({ match: 'prefix', path: '/', service: 'git-api' })
  })
})

describe('upstreams.conf', () => {
  it('defines a group for every service, and every group is used', async () => {
    const nginx = await parseNginx(read('upstreams.conf'))
    const groups = nginx.upstream?.map(({ _value }) => String(_value))
    expect(groups?.toSorted()).toEqual([...upstreamNames].sort())
    const used = new Set([...routes.flatMap(({ service }) => service ?? []), 'saga-reporter-grpc'])
    expect(new Set(groups)).toEqual(used)
  })
})
