drop table thread_figure;
