/** Calls of the editor, also if batched with others. */
export const LOADS = /trpc\/[^?]*workflows\.get[,?]/
export const SAVES = /trpc\/[^?]*workflows\.save/
