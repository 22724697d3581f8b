import { NginxConfFile } from 'nginx-conf'

type NginxConfItem = NginxConfFile['nginx']

/** An entry of routes.json. */
export interface Route {
  match: 'prefix' | 'regex'
  path: string
  service: string | null
  rewrite?: string
}

/** A location of nginx.conf that chooses the service. */
export interface Location {
  pattern: string
  /** Upstream group, or null when nginx itself answers with 404. */
  service: string | null
  rewrite?: string
  /** Upstream groups of the inner locations. */
  inner: (string | null)[]
}

/** Parses the configuration; rejects when nginx-conf cannot parse it. */
export function parseNginx(source: string): Promise<NginxConfItem> {
  return new Promise((resolve, reject) => {
    NginxConfFile.createFromSource(source, (error, file) => (file ? resolve(file.nginx) : reject(error)))
  })
}

/** Returns the regular-expression locations of the HTTP server, in their order. */
export function httpLocations(nginx: NginxConfItem): Location[] {
  const server = nginx.http?.[0]?.server?.find((item) => item.include?.[0]?._value === 'listen-http.conf')
  return (server?.location ?? []).filter(isRegex).map((location) => ({
    pattern: String(location._value).replace(/^~ /, ''),
    ...targetOf(location),
    inner: (location.location ?? []).map((inner) => targetOf(inner).service),
  }))
}

const isRegex = ({ _value }: NginxConfItem) => String(_value).startsWith('~ ')

function targetOf(location: NginxConfItem): { service: string | null; rewrite?: string } {
  const pass = location.proxy_pass?.[0]?._value
  if (pass === undefined) {
    if (String(location.return?.[0]?._value) !== '404')
      throw new Error('a location neither passes nor says 404')
    return { service: null }
  }
  const [, service = '', rewrite] = /^http:\/\/([^/]+)(\/.*)?$/.exec(String(pass)) ?? []
  return rewrite === undefined ? { service } : { service, rewrite }
}

/** Returns the location that an entry of the routing table requires. */
export function expectedLocation(route: Route): Omit<Location, 'inner'> {
  const { service, rewrite } = route
  const target = rewrite === undefined ? { service } : { service, rewrite }
  if (route.match === 'regex') return { pattern: route.path, ...target }
  const escaped = route.path.replaceAll(/[.*+?()[\]{}|\\]/g, '\\$&')
  return { pattern: route.path === '/' ? '^/' : `^${escaped}(/|$)`, ...target }
}
