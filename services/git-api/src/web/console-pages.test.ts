import { expect, it } from 'vitest'
import { consolePageOf, consolePageOfUser } from './console-pages.js'

const project = '/console/projects/ada/engine'

it.each([
  [[], project],
  [['commit', 'abc123'], `${project}/commits/abc123`],
  [['commits', 'main'], `${project}?ref=main`],
  [['commits', 'feature/x', 'docs', 'a b.md'], `${project}?ref=feature%2Fx&path=docs%2Fa+b.md`],
  [['tree', 'main'], `${project}/files/main`],
  [['tree', 'feature/x', 'docs'], `${project}/files/feature%2Fx/docs`],
  [['blob', 'main', 'docs', 'what?#.md'], `${project}/files/main/docs/what%3F%23.md`],
  [['raw', 'main', 'a.txt'], `${project}/files/main/a.txt`],
  [['blame', 'main', 'a.txt'], `${project}/files/main/a.txt`],
  [['branches'], `${project}/branches`],
  [['tags', 'v1'], `${project}/branches`],
  [['releases', 'v1'], `${project}/releases`],
  [['pipelines', '7'], `${project}/pipelines/7`],
  [['pipelines', 'new'], `${project}/pipelines`],
  [['compare', 'main...feature/x'], `${project}/compare?from=main&to=feature%2Fx`],
  [['compare', 'v1..v2'], `${project}/compare?from=v1&to=v2`],
  [['compare'], `${project}/compare`],
  [['environments', '3'], `${project}/deployments`],
  [['deployments'], `${project}/deployments`],
  [['settings', 'repository'], `${project}/settings`],
  [['tree'], project],
  [['commit'], project],
  [['issues'], project],
  [['constructor'], project],
])('the address /-/%j leads to %s', (rest, page) => {
  expect(consolePageOf(['ada', 'engine'], rest)).toBe(page)
})

it('any address leads to a page of the console', () => {
  expect(consolePageOf(['ada', '//evil.example'], ['blob', '//evil.example', '..'])).toBe(
    '/console/projects/ada/%2F%2Fevil.example/files/%2F%2Fevil.example/..',
  )
})

it('the address of a user leads to their projects', () => {
  expect(consolePageOfUser('ada')).toBe('/console/projects?q=ada')
})
