const stages = [
  'nginx',
  'postgres',
  'redis',
  'prometheus',
  'blackbox-exporter',
  'node-exporter',
  'postgres-exporter',
  'redis-exporter',
]

/** Images that replace external ones, by their stage in the Dockerfile beside this file. */
export const standIns = new Map(stages.map((stage) => [stage, `localhost/stand-in/${stage}`]))

/** Returns a Compose file with stand-ins for external images. */
export const withStandIns = (text: string): string =>
  text.replaceAll(/image: (?:[\w-]+\/)?([\w-]+):.*@sha256:.*/g, (line, name: string) => {
    const image = standIns.get(name.replaceAll('_', '-'))
    return image ? `image: ${image}` : line
  })
