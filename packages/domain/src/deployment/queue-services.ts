/** A queue as the metrics of job queues name it. */
export interface NamedQueue {
  source: string
  queue: string
}

/**
 * The names of the services that a queue may belong to, the closest first: the name of the queue, its
 * beginnings up to a `.`, `:` or `/`, and the name of its source. Hyphens are part of a name: `order-history`
 * is no queue of the service `order`.
 */
export function queueServices({ source, queue }: NamedQueue): string[] {
  const beginnings = [...queue.matchAll(/[.:/]/g)].map(({ index }) => queue.slice(0, index)).reverse()
  return [...new Set([queue, ...beginnings, source])].filter((name) => name !== '')
}

export const isQueueOf = (serviceName: string, queue: NamedQueue): boolean =>
  queueServices(queue).includes(serviceName)
