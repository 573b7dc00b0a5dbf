import { EditorSkeleton } from './editor-skeleton'

export default function Loading() {
  return <EditorSkeleton />
}
