import axe from 'axe-core'
import type { Page } from 'playwright-core'

/** Rules of WCAG 2.2 A and AA that axe can judge. */
export async function violations(page: Page): Promise<string[]> {
  // The policy of the pages forbids script elements; evaluating is the debugger's.
  await page.evaluate(axe.source)
  return page.evaluate(async () => {
    const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']
    const { violations } = await (
      globalThis as unknown as { axe: { run(given: object): Promise<{ violations: AxeViolation[] }> } }
    ).axe
      // Selectors of elements, and results of what is right, take longer to make than to find what is wrong.
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
