'use client'
import { TextInput, type TextInputProps } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { Search } from 'lucide-react'
import { useEffect, useState } from 'react'

const WAIT_MS = 250

/** A search field whose text is stored elsewhere, mostly in the URL; it reports changes debounced. */
export function SearchField({
  text,
  onSearch,
  ...props
}: { text: string; onSearch: (text: string) => void } & Pick<
  TextInputProps,
  'ref' | 'aria-label' | 'placeholder' | 'className'
>) {
  const [typed, setTyped] = useState(text)
  const search = useDebouncedCallback(onSearch, WAIT_MS)
  // Back, forward and Clear change the text from outside.
  useEffect(() => setTyped((now) => (now.trim() === text ? now : text)), [text])
  return (
    <TextInput
      type="search"
      leftSection={<Search size={16} aria-hidden />}
      maxLength={200}
      value={typed}
      onChange={(event) => {
        setTyped(event.currentTarget.value)
        search(event.currentTarget.value.trim())
      }}
      // Next drops a navigation during which the URL changes, so write it first.
      onBlur={() => search.flush()}
      {...props}
    />
  )
}
