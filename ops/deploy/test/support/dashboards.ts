import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

export interface Area {
  x: number
  y: number
  w: number
  h: number
}

interface Panel {
  id: number
  title: string
  gridPos: Area
  datasource: { uid: string }
  targets: { refId: string; expr: string }[]
}

interface Dashboard {
  uid: string
  templating: { list: { name: string; query: string }[] }
  panels: Panel[]
}

const folder = resolve(import.meta.dirname, '../../grafana')

/** The dashboards by the names of their files. */
export const dashboards = readdirSync(folder)
  .filter((name) => name.endsWith('.json'))
  .map((name) => [name, JSON.parse(readFileSync(join(folder, name), 'utf8')) as Dashboard] as const)
