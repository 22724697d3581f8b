import axe from 'axe-core'
import type { Page } from 'playwright-core'

/** Returns violations of WCAG 2.2 A and AA that axe detects. */
export async function violations(page: Page): Promise<string[]> {
  // The content security policy of the pages forbids script elements, but not the debugger's evaluation.
  await page.evaluate(axe.source)
  return page.evaluate(async () => {
    const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']
    const { violations } = await (
      globalThis as unknown as { axe: { run(given: object): Promise<{ violations: AxeViolation[] }> } }
    ).axe
      // Selectors of elements, and results of passed rules, take longer than the search for violations.
      .run({ runOnly: { type: 'tag', values: tags }, resultTypes: ['violations'], selectors: false })
    return violations.map(
      ({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(' | ')}`,
    )
  })
}

interface AxeViolation {
  id: string
  nodes: { html: string }[]
}
