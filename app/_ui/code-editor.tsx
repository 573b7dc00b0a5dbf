'use client'
import { Skeleton } from '@mantine/core'
import dynamic from 'next/dynamic'
import type { CodeEditorProps } from './code-mirror'

/** A field for code, loaded when it is first shown: it weighs more than all else on most screens. */
export const CodeEditor = dynamic<CodeEditorProps>(() => import('./code-mirror').then((module) => module.CodeMirror), {
  ssr: false,
  loading: () => <Skeleton height={120} radius="md" />,
})
