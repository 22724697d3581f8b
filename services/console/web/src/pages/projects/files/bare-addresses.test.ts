import { createElement } from 'react'
import { renderToStaticMarkup } from 'react-dom/server'
import { expect, it } from 'vitest'
import { MarkdownView } from './markdown-view'

const links = (text: string) => {
  const html = renderToStaticMarkup(
    createElement(MarkdownView, { text, linkTo: (path) => path, imageAt: (path) => path }),
  )
  return [...html.matchAll(/<a href="([^"]*)"[^>]*>(.*?)<\/a>/g)].map(([, href = '', label]) => [
    decodeURI(href),
    label,
  ])
}
const same = (address: string) => [address, address]

it.each([
  ['https://example.com/foo。次の文。', [same('https://example.com/foo')]],
  ['全角（https://example.com/baz）です。', [same('https://example.com/baz')]],
  [
    '- 「https://a.example/x」、https://b.example/y。',
    [same('https://a.example/x'), same('https://b.example/y')],
  ],
  ['https://a.example/x、https://b.example/y！', [same('https://a.example/x'), same('https://b.example/y')]],
  [
    'https://en.wikipedia.org/wiki/Terminator_(franchise)',
    [same('https://en.wikipedia.org/wiki/Terminator_(franchise)')],
  ],
  ['[題。](https://a.example/題。)', [['https://a.example/題。', '題。']]],
  ['<https://a.example/題。>', [same('https://a.example/題。')]],
])('%j has the links that its writer means', (text, expected) => {
  expect(links(text)).toEqual(expected)
})
