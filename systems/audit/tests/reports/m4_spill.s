# --cpu cortex-m4: a value spilled although its register is not needed on the hot path
	.syntax unified
	.thumb
	.text
	.global spilled
	.type spilled, %function
	.thumb_func
spilled:
	push {r4, lr}
	sub sp, sp, #8
	ldr r1, [r0]
	str r1, [sp, #4]
	ldr r2, [r0, #4]
	adds r2, r2, #1
	cbz r2, 1f
	ldr r1, [sp, #4]
	adds r0, r1, r2
	add sp, sp, #8
	pop {r4, pc}
1:	bl abort
	.size spilled, . - spilled
