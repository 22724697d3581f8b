import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { repository } from './build-stages.js'

export interface ComposeService {
  image: string
  command?: string | string[]
  build?: { context: string; dockerfile: string; args: { SERVICE: string } }
  /** Null: the value is in `.env`. */
  environment?: Record<string, string | null>
  ports?: string[]
  /** `source:target:ro`, even when the file uses the long form. */
  volumes?: string[]
  secrets?: string[]
  tmpfs?: string[]
  networks: string[]
  user?: string
  restart: string
  profiles?: string[]
  read_only: boolean
  cap_drop: string[]
  security_opt: string[]
  healthcheck?: { test: string[] }
  depends_on?: Record<string, { condition: string }>
  deploy: { resources: { limits: { cpus: string; memory: string; pids: number } } }
}

export interface Compose {
  services: Record<string, ComposeService>
  networks: Record<string, { internal?: boolean }>
  volumes: Record<string, unknown>
  secrets: Record<string, { file: string }>
}

export const readRepositoryFile = (path: string) => readFileSync(join(repository, path), 'utf8')

/** The error for a required value without a default. */
export class MissingVariable extends Error {}

/**
 * Reads docker-compose.yml and replaces its variables as Compose does: `${NAME:-default}`, `${NAME:?what to
 * do}`, and `$$` for a dollar sign. Compose replaces only within values, after parsing the YAML.
 */
export function readCompose(variables: Record<string, string>, file = 'docker-compose.yml'): Compose {
  const source: unknown = parse(readRepositoryFile(file), { merge: true, logLevel: 'error' })
  const compose = replace(source, variables) as Compose
  for (const service of Object.values(compose.services)) {
    const volumes: (string | { source: string; target: string })[] | undefined = service.volumes
    if (volumes)
      service.volumes = volumes.map((volume) =>
        typeof volume === 'string' ? volume : `${volume.source}:${volume.target}:ro`,
      )
  }
  return compose
}

function replace(value: unknown, variables: Record<string, string>): unknown {
  if (typeof value === 'string') return interpolate(value, variables)
  if (Array.isArray(value)) return value.map((item) => replace(item, variables))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, replace(item, variables)]))
}

function interpolate(text: string, variables: Record<string, string>): string {
  return text.replaceAll(
    /\$(?:\$|\{(\w+)(?::([-?])([^}]*))?\})/g,
    (whole, name?: string, operator?: string, rest?: string) => {
      if (whole === '$$') return '$'
      const value = variables[name ?? '']
      if (value) return value
      if (operator === '-') return rest ?? ''
      throw new MissingVariable(`${name}: ${rest}`)
    },
  )
}
