/** A queue, named as in the metrics of job queues. */
export interface NamedQueue {
  source: string
  queue: string
}

/**
 * Returns the names of the services that a queue may belong to, the closest first: the name of the queue, its
 * beginnings up to a `.`, `:` or `/`, and the name of its source. A hyphen is part of a name, so
 * `order-history` does not belong to the service `order`.
 */
export function queueServices({ source, queue }: NamedQueue): string[] {
  const beginnings = [...queue.matchAll(/[.:/]/g)].map(({ index }) => queue.slice(0, index)).reverse()
  return [...new Set([queue, ...beginnings, source])].filter((name) => name !== '')
}

export const isQueueOf = (serviceName: string, queue: NamedQueue): boolean =>
  queueServices(queue).includes(serviceName)
