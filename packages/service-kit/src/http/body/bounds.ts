import { type DomainError, invalidParameters, tooLarge } from '@switchyard/domain'

/**
 * Most values of a JSON body, or fields of a form. A commit of 10,000 actions with every parameter has
 * 80,000.
 */
export const valuesMax = 100_000

/** Most levels of nested lists and objects. */
export const nestingMax = 50

export const bodyTooLarge = (): DomainError => tooLarge('413 Request Entity Too Large')

export const nestedTooDeeply = (): DomainError => invalidParameters(['the parameters are nested too deeply'])
