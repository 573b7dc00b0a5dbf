/**
 * What takes the place of the product's own modules in a simulation. Each file that simulates names them with `vi.mock`,
 * which only works where it is written.
 */
export const clock = () => import('./virtual-clock')

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
