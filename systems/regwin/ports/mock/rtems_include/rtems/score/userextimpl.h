/* What is called when threads begin, switch and end. */
typedef struct {
    struct {
        void (*thread_delete)(Thread_Control *executing, Thread_Control *deleted);
    } Callouts;
} User_extensions_Control;
void _User_extensions_Add_set(User_extensions_Control *extension);
