import { expect, it } from 'vitest'
import { Fragment, jsx, jsxs } from './jsx-runtime'

const hidden = 'safe\u202egpj.exe'
const shown = 'safeU+202Egpj.exe'

const propsOf = (element: { props: unknown }) => element.props as Record<string, unknown>

it('control characters are shown in every text of an element, and in its readable attributes', () => {
  expect(propsOf(jsx('span', { children: hidden, title: hidden, 'aria-label': hidden }))).toEqual({
    children: shown,
    title: shown,
    'aria-label': shown,
  })
  expect(propsOf(jsxs('p', { children: ['a', 1, [hidden], null] })).children).toEqual(['a', 1, [shown], null])
  expect(propsOf(jsx(Fragment, { children: hidden })).children).toBe(shown)
})

it('values of fields, sent data and links are unchanged', () => {
  const props = { value: hidden, defaultValue: hidden, href: `/sagas/${hidden}`, name: hidden }
  expect(propsOf(jsx('input', props))).toEqual(props)
  const Page = () => null
  expect(propsOf(jsx(Page, { children: hidden, title: hidden }))).toEqual({ children: hidden, title: hidden })
})
