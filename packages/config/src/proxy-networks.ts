import { compile } from 'proxy-addr'
import { z } from 'zod'

/**
 * A function that decides whether an address belongs to a proxy, which is trusted about the address of its
 * client.
 */
export type TrustsProxy = (address: string) => boolean

/**
 * Returns the field of addresses and networks of proxies, such as `10.1.2.3` and `10.1.0.0/16`, or the names
 * `loopback`, `linklocal` and `uniquelocal`, separated by commas.
 */
export const proxyNetworks = () =>
  z.string().transform((text, context): TrustsProxy => {
    const networks = text.split(',').map((network) => network.trim())
    try {
      const trusts = compile(networks)
      return (address) => trusts(address, 0)
    } catch {
      context.addIssue({ code: 'custom', message: 'must be addresses or networks, separated by commas' })
      return z.NEVER
    }
  })

export const trustsNobody: TrustsProxy = () => false
