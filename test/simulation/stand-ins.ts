/**
 * Replacements for the product's own modules in a simulation. Each file that simulates names them with `vi.mock`, which
 * only works in the file itself.
 */
export const clock = () => import('./virtual-clock')

/** Work in slices is done at once, so that no actor waits for a timer. */
export async function giveWay(original: () => Promise<typeof import('@/server/give-way')>): Promise<object> {
  const { atOnce } = await import('@/server/definition/sliced')
  const inSlices: typeof import('@/server/give-way').inSlices = async (_tenantId, work) => atOnce(work)
  return { ...(await original()), giveWay: () => undefined, inSlices }
}

export async function running(original: () => Promise<object>): Promise<object> {
  return { ...(await original()), ...(await import('./signals')) }
}

export async function testEffect(
  original: () => Promise<typeof import('@/server/steps/test-effect')>,
): Promise<object> {
  const { testEffect } = await original()
  const { effect } = await import('./effects')
  return { testEffect: { ...testEffect, run: effect } }
}
