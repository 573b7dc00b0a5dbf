'use client'
import { Skeleton } from '@mantine/core'
import dynamic from 'next/dynamic'
import type { CodeEditorProps } from './code-mirror'

/** A code field. Loaded when first shown, because it is larger than everything else on most screens. */
export const CodeEditor = dynamic<CodeEditorProps>(() => import('./code-mirror').then((module) => module.CodeMirror), {
  ssr: false,
  loading: () => <Skeleton height={120} radius="md" />,
})
