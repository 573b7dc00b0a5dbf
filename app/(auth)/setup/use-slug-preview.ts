import { useDebouncedValue } from '@mantine/hooks'
import { useEffect, useState } from 'react'
import { call } from '../api'

/** How a workspace of this name will be called in addresses; null until the server has said so. */
export function useSlugPreview(name: string): string | null {
  const [wanted] = useDebouncedValue(name.trim(), 250)
  const [slug, setSlug] = useState<string | null>(null)
  useEffect(() => {
    const stop = new AbortController()
    setSlug(null)
    if (wanted === '') return
    call('previewSlug', { name: wanted }, stop.signal).then(
      (answer) => setSlug(answer.slug),
      () => {}, // It is only a preview.
    )
    return () => stop.abort()
  }, [wanted])
  return wanted === name.trim() ? slug : null
}
