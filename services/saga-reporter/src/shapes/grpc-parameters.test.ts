import { expect, it } from 'vitest'
import { readService } from './grpc-parameters.js'

it('a refusal names each field with a character that cannot be stored', () => {
  const read = (tenant: string, serviceName: string) => () => readService({ tenant, serviceName }, 'default')
  expect(read('', 'booking')()).toEqual({ tenant: 'default', serviceName: 'booking' })
  expect(read('a\0', 'booking')).toThrow(/^tenant is invalid$/)
  expect(read('a', 'booking\0')).toThrow(/^service_name is invalid$/)
  expect(read('a\0', 'booking\0')).toThrow(/tenant is invalid.*service_name is invalid/)
})
