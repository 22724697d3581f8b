import { expect, it } from 'vitest'
import { serviceNames } from '../../docker/test/support/service-configs.js'
import { type Area, dashboards } from './support/dashboards.js'

const areUnique = (values: unknown[]) => new Set(values).size === values.length
const overlap = (a: Area, b: Area) => a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h

it('every service has a dashboard, and the console is on the overview', () => {
  const names = dashboards.map(([name]) => name)
  const expected = serviceNames.map((name) => (name === 'console' ? 'overview.json' : `${name}.json`))
  expect(names).toEqual(expect.arrayContaining(expected))
  expect(areUnique(dashboards.map(([, { uid }]) => uid))).toBe(true)
})

it.each(dashboards)(
  '%s can be imported: no two panels share an id or a place, and all read the chosen source',
  (_name, { panels, templating }) => {
    expect(templating.list.map(({ name }) => name)).toContain('datasource')
    expect(areUnique(panels.map(({ id }) => id))).toBe(true)
    for (const [index, { gridPos, datasource, targets }] of panels.entries()) {
      expect(datasource.uid).toBe(`\${datasource}`)
      expect(gridPos.x + gridPos.w).toBeLessThanOrEqual(24)
      expect(panels.slice(index + 1).filter((other) => overlap(gridPos, other.gridPos))).toEqual([])
      expect(areUnique(targets.map(({ refId }) => refId))).toBe(true)
    }
  },
)
