import { EditorSkeleton } from './editor/editor-skeleton'

export default function Loading() {
  return <EditorSkeleton />
}
