import { useDebouncedValue } from '@mantine/hooks'
import { useEffect, useState } from 'react'
import { call } from '../api'

/** The URL slug for a workspace of this name. Null until the server answers. */
export function useSlugPreview(name: string): string | null {
  const [wanted] = useDebouncedValue(name.trim(), 250)
  const [slug, setSlug] = useState<string | null>(null)
  useEffect(() => {
    const stop = new AbortController()
    setSlug(null)
    if (wanted === '') return
    call('previewSlug', { name: wanted }, { signal: stop.signal }).then(
      (answer) => setSlug(answer.slug),
      () => {}, // Only a preview: failures do not matter.
    )
    return () => stop.abort()
  }, [wanted])
  return wanted === name.trim() ? slug : null
}
